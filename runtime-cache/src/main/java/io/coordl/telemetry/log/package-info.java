/** Messages from the agent to the user. Knows neither their contents nor how they are printed. */
@NullMarked
package io.coordl.telemetry.log;

import org.jspecify.annotations.NullMarked;
