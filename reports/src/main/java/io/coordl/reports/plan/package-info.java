/**
 * Plans which jobs run on which servers of a cluster, with how many cores, how much memory and what
 * storage rate, and converts plans to the formats that clusters accept. Package {@code cluster}
 * computes the allocations. Nothing here writes files or prints.
 */
@NullMarked
package io.coordl.reports.plan;

import org.jspecify.annotations.NullMarked;
