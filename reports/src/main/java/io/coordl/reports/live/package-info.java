/** Running jobs, read from their status files in shared memory. */
@NullMarked
package io.coordl.reports.live;

import org.jspecify.annotations.NullMarked;
