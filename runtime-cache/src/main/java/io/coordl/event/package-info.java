/**
 * The recording's vocabulary: every event the agent writes, and nothing else. {@code reports} reads
 * a recording back into these classes. They live in the isolated loader, since rewritten code never
 * writes an event itself.
 */
@NullMarked
package io.coordl.event;

import org.jspecify.annotations.NullMarked;
