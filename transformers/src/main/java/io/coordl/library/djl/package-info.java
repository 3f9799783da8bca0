/**
 * Code that touches DJL's types: loaded once per loader of DJL in the program, by {@link
 * io.coordl.pipeline.LibraryLoader}, and referred to by name only. Holds no DJL object beyond the
 * call or the image it is for.
 */
@NullMarked
package io.coordl.library.djl;

import org.jspecify.annotations.NullMarked;
