/**
 * The strategies, written once for all libraries: prefetch, coordinated prep, kept samples, replay
 * for profiles; what a library's adapter tells them; and the loader that sees both. No type of a
 * training library.
 */
@NullMarked
package io.coordl.pipeline;

import org.jspecify.annotations.NullMarked;
