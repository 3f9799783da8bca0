/**
 * The resources that a job needs of a host: its speed by cores, memory for items and storage rate,
 * from one recording or several. The law is in {@code whatif}; the table is in {@code cluster},
 * which uses it to share clusters.
 */
@NullMarked
package io.coordl.reports.demand;

import org.jspecify.annotations.NullMarked;
