/**
 * Plans: which jobs run on which servers of a cluster, with how many cores, how much memory and
 * what storage rate; and the plan in the forms that clusters take. The rules of sharing live in
 * {@code cluster}; nothing is written or printed here.
 */
@NullMarked
package io.coordl.reports.plan;

import org.jspecify.annotations.NullMarked;
