/**
 * The bridge: the classes that rewritten program code calls, loaded by the boot loader so that
 * every class loader sees them. JDK types only, no third-party code, no {@code java.util.logging},
 * no JMX, under 40 classes. Behaviour lives behind {@link io.coordl.bridge.SpanSink} and {@link
 * io.coordl.bridge.ItemSource}, which the isolated loader implements.
 */
@NullMarked
package io.coordl.bridge;

import org.jspecify.annotations.NullMarked;
