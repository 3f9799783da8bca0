/**
 * GPUs of the job: samples of their activity, synchronized steps, page-locked memory and ranges for
 * Nsight, all through native calls behind one interface ({@link io.coordl.gpu.Natives}).
 * Independent of training libraries.
 */
@NullMarked
package io.coordl.gpu;

import org.jspecify.annotations.NullMarked;
