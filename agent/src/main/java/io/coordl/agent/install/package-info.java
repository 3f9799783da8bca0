/**
 * Turns arguments into a running agent: options, policies, installation. Depends on all other
 * parts; none depends on it.
 */
@NullMarked
package io.coordl.agent.install;

import org.jspecify.annotations.NullMarked;
