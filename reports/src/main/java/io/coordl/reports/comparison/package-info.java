/** Several recordings side by side: the speed of each job relative to the first. */
@NullMarked
package io.coordl.reports.comparison;

import org.jspecify.annotations.NullMarked;
