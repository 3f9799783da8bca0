/**
 * Clusters that several jobs share: job traces, tables of a model's speed by cores and memory, and
 * a simulation of schedulers that uses both. Reads tables and traces, never a recording, and prints
 * nothing.
 */
@NullMarked
package io.coordl.reports.cluster;

import org.jspecify.annotations.NullMarked;
