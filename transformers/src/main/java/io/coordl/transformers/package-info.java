/**
 * What is rewritten: the class-file transformer, and the two kinds of rules below it ({@code
 * callsite}, {@code hook}). No behaviour of its own: rewritten code calls the bridge.
 */
@NullMarked
package io.coordl.transformers;

import org.jspecify.annotations.NullMarked;
