/**
 * The differential profile: how an epoch's time is spent, from the times of the same samples
 * without fetch and prep, without fetch, and with both. Takes its input from {@code recording} and
 * never touches a file.
 */
@NullMarked
package io.coordl.reports.differential;

import org.jspecify.annotations.NullMarked;
