/** Jobs that run now, from what they show in shared memory. */
@NullMarked
package io.coordl.reports.live;

import org.jspecify.annotations.NullMarked;
