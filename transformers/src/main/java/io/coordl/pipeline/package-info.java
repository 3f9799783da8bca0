/**
 * The policies, written once for all libraries: prefetching, coordinated prep, kept samples, replay
 * for profiles. Also the interfaces that a library's adapter implements for them, and the loader
 * that sees both. Uses no type of a training library.
 */
@NullMarked
package io.coordl.pipeline;

import org.jspecify.annotations.NullMarked;
