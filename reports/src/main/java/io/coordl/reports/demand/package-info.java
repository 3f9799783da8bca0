/**
 * What a job needs of a host: its speed by cores, memory for items and storage rate, from one
 * recording or several. The law lives in {@code whatif}, the table in {@code cluster}, which shares
 * clusters by it.
 */
@NullMarked
package io.coordl.reports.demand;

import org.jspecify.annotations.NullMarked;
