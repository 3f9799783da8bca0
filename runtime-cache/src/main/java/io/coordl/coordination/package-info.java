/**
 * Coordinated prep: the jobs of a group together prepare each batch of an epoch once, in a staging
 * buffer in shared memory. Independent of the libraries and their arrays.
 */
@NullMarked
package io.coordl.coordination;

import org.jspecify.annotations.NullMarked;
