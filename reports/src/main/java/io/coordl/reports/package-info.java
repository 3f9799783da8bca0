/**
 * The command line {@code coordl}: one class per sub-command, arguments in, exit code out. The
 * packages below read the recordings and compute most figures. From the agent, this package and
 * those below import only {@code io.coordl.telemetry.event}, {@code io.coordl.telemetry.advice},
 * {@code io.coordl.telemetry.steps} and {@code io.coordl.telemetry.live}.
 */
@NullMarked
package io.coordl.reports;

import org.jspecify.annotations.NullMarked;
