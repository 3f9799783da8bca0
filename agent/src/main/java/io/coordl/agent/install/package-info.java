/**
 * From arguments to a running agent: options, policies, installation. Knows every other part; no
 * other part knows it.
 */
@NullMarked
package io.coordl.agent.install;

import org.jspecify.annotations.NullMarked;
