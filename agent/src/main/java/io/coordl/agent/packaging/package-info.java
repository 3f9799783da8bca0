/** Build steps that process the contents of the agent's jar; not part of the agent. */
@NullMarked
package io.coordl.agent.packaging;

import org.jspecify.annotations.NullMarked;
