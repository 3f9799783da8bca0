/**
 * What the GPUs do while the job trains: native calls behind one seam ({@link
 * io.coordl.gpu.Natives}), what they answer, and the samples made of it. Knows no library.
 */
@NullMarked
package io.coordl.gpu;

import org.jspecify.annotations.NullMarked;
