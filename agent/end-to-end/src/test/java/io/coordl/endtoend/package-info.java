/**
 * Tests the product's promises with the packaged agent, unmodified examples and real JVMs, on the
 * JDKs of this machine. Tests read the example's log, its recording, its standard error and traces
 * from outside the JVM; they call no product code themselves.
 */
@NullMarked
package io.coordl.endtoend;

import org.jspecify.annotations.NullMarked;
