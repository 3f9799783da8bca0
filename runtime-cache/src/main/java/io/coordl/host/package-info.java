/**
 * The host: free memory and cores, which jobs are alive according to the kernel, shared and private
 * files opened with checks of owner and type, and the agent's own threads. Independent of the
 * contents of those files and of the work of those threads.
 */
@NullMarked
package io.coordl.host;

import org.jspecify.annotations.NullMarked;
