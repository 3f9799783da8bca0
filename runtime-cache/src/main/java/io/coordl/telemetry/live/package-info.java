/** Live status that a running job shows to other processes. */
@NullMarked
package io.coordl.telemetry.live;

import org.jspecify.annotations.NullMarked;
