/**
 * Code that uses DJL's types. {@link io.coordl.pipeline.LibraryLoader} loads it once for each
 * interceptor or adapter and each loader of DJL in the program. Other packages refer to it only by
 * name, except for {@link Djl}, which uses none of these types. Holds no array of the program
 * longer than the call or the image that needs it.
 */
@NullMarked
package io.coordl.library.djl;

import org.jspecify.annotations.NullMarked;
