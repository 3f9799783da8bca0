/**
 * The epoch engine: the policies, written once for all libraries, and the choice of the policy that
 * serves a batch. Also the interface that a library's adapters implement for the policies, and the
 * class loader that sees both the library and the agent. Uses no type of a training library.
 */
@NullMarked
package io.coordl.pipeline;

import org.jspecify.annotations.NullMarked;
