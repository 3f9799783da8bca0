/**
 * The threads of the agent: how they stand apart from the program's. Knows nothing of what they do.
 */
@NullMarked
package io.coordl.thread;

import org.jspecify.annotations.NullMarked;
