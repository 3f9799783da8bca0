/** Run by the build on what goes into the agent's jar; no part of the agent. */
@NullMarked
package io.coordl.agent.packaging;

import org.jspecify.annotations.NullMarked;
