/**
 * The command line {@code coordl}: one class per sub-command, arguments in, exit code out. Computes
 * no figures and reads no events itself. From the agent, this package and those below import only
 * {@code io.coordl.event}, {@code io.coordl.advice} and {@code io.coordl.live}.
 */
@NullMarked
package io.coordl.reports;

import org.jspecify.annotations.NullMarked;
