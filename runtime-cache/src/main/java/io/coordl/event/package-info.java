/**
 * The recording's vocabulary: every event the agent writes, and nothing else. {@code reports} reads
 * these by name and field and imports none of them; a test proves that both sides agree. In the
 * isolated loader, since rewritten code never writes an event itself.
 */
@NullMarked
package io.coordl.event;

import org.jspecify.annotations.NullMarked;
