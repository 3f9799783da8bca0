/**
 * {@code auto}: decides while the job runs which policies are worth their cost. Knows the figures
 * of the job, but none of the policies.
 */
@NullMarked
package io.coordl.tuning;

import org.jspecify.annotations.NullMarked;
