/**
 * Activity of the GPUs while the job trains: native calls behind one interface ({@link
 * io.coordl.gpu.Natives}), their answers, and the samples derived from them. Knows no training
 * library.
 */
@NullMarked
package io.coordl.gpu;

import org.jspecify.annotations.NullMarked;
