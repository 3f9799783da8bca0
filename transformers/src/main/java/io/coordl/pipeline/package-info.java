/**
 * The epoch engine: the policies, written once for all libraries, and which of them serves a batch.
 * Also the contract that a library implements for them, and the loader that sees both. Uses no type
 * of a training library.
 */
@NullMarked
package io.coordl.pipeline;

import org.jspecify.annotations.NullMarked;
