/**
 * Writes model files whole or not at all, optionally in the background, and verifies the files that
 * it reads. Knows only files and bytes; the adapters of the libraries know what a model is.
 */
@NullMarked
package io.coordl.checkpoint;

import org.jspecify.annotations.NullMarked;
