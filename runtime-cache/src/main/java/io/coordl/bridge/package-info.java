/**
 * The bridge: the classes that rewritten program code calls, loaded by the boot loader so that
 * every class loader sees them. Fewer than 40 classes, JDK types only; no third-party code, {@code
 * java.util.logging} or JMX. Behaviour is behind {@link io.coordl.bridge.SpanSink}, {@link
 * io.coordl.bridge.ItemSource} and {@link io.coordl.bridge.LibraryHooks}, which classes of the
 * isolated loader implement.
 */
@NullMarked
package io.coordl.bridge;

import org.jspecify.annotations.NullMarked;
