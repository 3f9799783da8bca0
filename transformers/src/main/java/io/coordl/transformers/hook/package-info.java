/**
 * Typed hooks: record spans of, or intercept, methods of training libraries and of user classes
 * that implement their interfaces. Rules and weaving only; the libraries declare the rules, and the
 * runtime decides what a span means.
 */
@NullMarked
package io.coordl.transformers.hook;

import org.jspecify.annotations.NullMarked;
