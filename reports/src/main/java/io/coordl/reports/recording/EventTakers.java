package io.coordl.reports.recording;

import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Who gets the events that a walk reads in passing.
 *
 * @param types which frequent events are read
 * @param frequent gets those
 * @param rare by the name of the type
 */
record EventTakers(
    Set<FrequentType> types, FrequentEvents frequent, Map<String, Consumer<JobEvent>> rare) {}
