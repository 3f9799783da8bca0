/**
 * Turns arguments into a running agent: options, policies, installation. Depends on most other
 * packages of the agent; none of them depends on it.
 */
@NullMarked
package io.coordl.agent.install;

import org.jspecify.annotations.NullMarked;
