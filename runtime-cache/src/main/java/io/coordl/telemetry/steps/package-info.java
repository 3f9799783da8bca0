/**
 * How long a step takes in the long run, and how sure that is: steps are many, epochs are few.
 * Looks at the figures of successive steps, and at no file.
 */
@NullMarked
package io.coordl.telemetry.steps;

import org.jspecify.annotations.NullMarked;
