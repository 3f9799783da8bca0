/**
 * The epoch engine: the policies, written once for all libraries, and the choice of the policy that
 * serves a batch. Also the interface that a library implements for them, and the loader that sees
 * both. Uses no type of a training library.
 */
@NullMarked
package io.coordl.pipeline;

import org.jspecify.annotations.NullMarked;
