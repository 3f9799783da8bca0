/**
 * What one call costs, by JMH, next to the plain call. The only package of the examples that calls
 * the runtime itself: what is measured here is too short to be seen from outside a process. Nothing
 * else in this module may do so, and no example is used here.
 */
@NullMarked
package io.coordl.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
