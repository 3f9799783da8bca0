package io.coordl.reports.recording;

import java.util.Map;
import java.util.function.Consumer;

/**
 * Who gets the events that a walk reads in passing.
 *
 * @param frequent gets those of every {@link FrequentType}
 * @param rare by the name of the type
 */
record EventTakers(FrequentEvents frequent, Map<String, Consumer<JobEvent>> rare) {}
