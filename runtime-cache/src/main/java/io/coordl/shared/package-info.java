/**
 * How jobs of one host share memory: the lifecycle of a shared file, which jobs are alive according
 * to the kernel, and how much memory the machine can spare. Knows nothing of the file's contents.
 */
@NullMarked
package io.coordl.shared;

import org.jspecify.annotations.NullMarked;
