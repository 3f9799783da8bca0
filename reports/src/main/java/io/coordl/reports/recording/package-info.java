/**
 * Recordings: is this file whole, whose is it, and what do CoorDL's events in it say. Records
 * mirror the events by name and field; nothing here interprets, formats or prints.
 */
@NullMarked
package io.coordl.reports.recording;

import org.jspecify.annotations.NullMarked;
