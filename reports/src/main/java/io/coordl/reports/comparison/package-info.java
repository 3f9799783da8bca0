/** Several recordings side by side: how many times as fast each job is as the first. */
@NullMarked
package io.coordl.reports.comparison;

import org.jspecify.annotations.NullMarked;
