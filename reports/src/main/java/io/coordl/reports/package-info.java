/**
 * The command line {@code coordl}: one class per sub-command, arguments in, exit code out. No
 * figures are computed here and no event is read here; nothing of the agent is imported anywhere
 * below this package.
 */
@NullMarked
package io.coordl.reports;

import org.jspecify.annotations.NullMarked;
