/**
 * Recordings: is this file whole, whose is it, and what do CoorDL's events in it say. They are read
 * back into the classes that the agent wrote them from; nothing here interprets, formats or prints.
 */
@NullMarked
package io.coordl.reports.recording;

import org.jspecify.annotations.NullMarked;
