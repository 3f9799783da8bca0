/**
 * Code that uses DJL's types: loaded by {@link io.coordl.pipeline.LibraryLoader} once per loader of
 * DJL in the program, and referenced only by name. Holds no DJL object longer than the call or the
 * image that needs it.
 */
@NullMarked
package io.coordl.library.djl;

import org.jspecify.annotations.NullMarked;
