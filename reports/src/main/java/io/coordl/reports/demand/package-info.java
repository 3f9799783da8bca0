/**
 * The resources that a job needs on a host: its speed by cores, cache memory and storage rate, from
 * one or several recordings. The model is in {@code whatif}; the table is in {@code cluster}, which
 * uses it to divide clusters among jobs.
 */
@NullMarked
package io.coordl.reports.demand;

import org.jspecify.annotations.NullMarked;
