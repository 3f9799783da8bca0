/**
 * Code that touches DJL's types: loaded by {@link io.coordl.pipeline.LibraryLoader} once per loader
 * of DJL in the program, and referenced only by name. Keeps no DJL object beyond the call or the
 * image it is needed for.
 */
@NullMarked
package io.coordl.library.djl;

import org.jspecify.annotations.NullMarked;
