/**
 * Writes and reads model files: whole or not at all, verified, and in the background. Knows files
 * and bytes; only the adapters of the libraries know what a model is.
 */
@NullMarked
package io.coordl.checkpoint;

import org.jspecify.annotations.NullMarked;
