/**
 * The recording's vocabulary: every event the agent writes, and nothing else. {@code reports} reads
 * these by name and field and imports none of them; a test proves that both sides agree.
 */
@NullMarked
package io.coordl.bridge.event;

import org.jspecify.annotations.NullMarked;
