/**
 * All events that the agent writes, with their annotations and their sink. {@code reports} reads a
 * recording back into these classes. They live in the isolated class loader, because rewritten code
 * never writes an event itself.
 */
@NullMarked
package io.coordl.telemetry.event;

import org.jspecify.annotations.NullMarked;
