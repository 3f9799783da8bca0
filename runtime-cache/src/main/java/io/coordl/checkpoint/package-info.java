/**
 * How model files are written and read: whole or not at all, verified, and in the background. Knows
 * files and bytes; what a model is only the adapters of the libraries know.
 */
@NullMarked
package io.coordl.checkpoint;

import org.jspecify.annotations.NullMarked;
