/**
 * What jobs of one host share memory with: a file that comes and goes with them, which of them run,
 * as the kernel knows it, and what the machine can spare. Knows nothing of what is in the file.
 */
@NullMarked
package io.coordl.shared;

import org.jspecify.annotations.NullMarked;
