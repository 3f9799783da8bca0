/**
 * What the summary at exit and every report say alike: how the epochs of a job are counted, the one
 * advice on them, and how figures are written. Both sides of the recording may know it; it knows
 * the events only.
 */
@NullMarked
package io.coordl.advice;

import org.jspecify.annotations.NullMarked;
