/**
 * What the product promises, shown on the packaged agent, the unmodified examples and real JVMs, on
 * every JDK of this machine. What a test knows of a run comes from the example's own log, from
 * outside the JVM, from its recording or from its standard error; nothing is called in process.
 */
@NullMarked
package io.coordl.endtoend;

import org.jspecify.annotations.NullMarked;
