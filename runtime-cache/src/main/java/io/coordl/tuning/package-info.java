/**
 * {@code auto}: decides while the job runs which policies are worth their cost. Knows figures of
 * the job and no policy.
 */
@NullMarked
package io.coordl.tuning;

import org.jspecify.annotations.NullMarked;
