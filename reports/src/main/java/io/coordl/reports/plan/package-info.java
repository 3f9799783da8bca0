/**
 * Plans: which jobs run on which servers of a cluster, with how many cores, how much memory and
 * what storage rate; and the plan in the formats that clusters accept. The allocations are in
 * {@code cluster}; this package writes and prints nothing.
 */
@NullMarked
package io.coordl.reports.plan;

import org.jspecify.annotations.NullMarked;
