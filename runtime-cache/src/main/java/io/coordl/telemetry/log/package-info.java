/** Interfaces for messages to the user, independent of their contents and of how they are shown. */
@NullMarked
package io.coordl.telemetry.log;

import org.jspecify.annotations.NullMarked;
