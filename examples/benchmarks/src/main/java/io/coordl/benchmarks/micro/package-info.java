/**
 * JMH benchmarks of single calls, each next to the plain call. This package calls the runtime
 * itself: a single call is too short to be seen from outside a process. It uses no example.
 */
@NullMarked
package io.coordl.benchmarks.micro;

import org.jspecify.annotations.NullMarked;
