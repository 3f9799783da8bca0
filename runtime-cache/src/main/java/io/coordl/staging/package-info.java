/**
 * Coordinated prep: the jobs of a group prepare each batch of an epoch once between them, in a
 * staging buffer in shared memory. Knows bytes, batches and jobs; nothing of a library's arrays.
 */
@NullMarked
package io.coordl.staging;

import org.jspecify.annotations.NullMarked;
