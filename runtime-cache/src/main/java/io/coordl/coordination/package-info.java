/**
 * Coordinated prep: the jobs of a group together prepare each batch of an epoch once, in a staging
 * buffer in shared memory. Knows bytes, batches and jobs, but no library's arrays.
 */
@NullMarked
package io.coordl.coordination;

import org.jspecify.annotations.NullMarked;
