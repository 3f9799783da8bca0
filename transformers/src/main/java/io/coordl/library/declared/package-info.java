/**
 * Training loops of any library, or of none, that the user declares with {@code batch=} and {@code
 * step=}. They are observed and their files are cached. Batches of Java arrays that are proven to
 * repeat are cached and prefetched.
 */
@NullMarked
package io.coordl.library.declared;

import org.jspecify.annotations.NullMarked;
