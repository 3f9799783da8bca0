/**
 * GPU activity while the job trains: native calls behind one interface ({@link
 * io.coordl.gpu.Natives}), and the samples derived from their results. Independent of training
 * libraries.
 */
@NullMarked
package io.coordl.gpu;

import org.jspecify.annotations.NullMarked;
