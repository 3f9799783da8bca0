/**
 * Typed hooks: methods of DJL and DL4J, and of the classes users write against them, marked as
 * spans or intercepted. Rules and weaving only; what a span means is the runtime's business.
 */
@NullMarked
package io.coordl.transformers.hook;

import org.jspecify.annotations.NullMarked;
