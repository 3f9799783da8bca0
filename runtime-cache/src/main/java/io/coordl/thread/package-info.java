/** Threads of the agent, kept apart from the program's. Knows nothing of their work. */
@NullMarked
package io.coordl.thread;

import org.jspecify.annotations.NullMarked;
