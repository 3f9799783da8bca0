/**
 * Typed hooks: methods of training libraries, and of the classes users write against them, marked
 * as spans or intercepted. Rules and weaving only; the libraries declare the rules, and the runtime
 * decides what a span means.
 */
@NullMarked
package io.coordl.transformers.hook;

import org.jspecify.annotations.NullMarked;
