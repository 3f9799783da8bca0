/**
 * Turns arguments into a running agent: options, policies, installation. Depends on every other
 * part; no other part depends on it.
 */
@NullMarked
package io.coordl.agent.install;

import org.jspecify.annotations.NullMarked;
