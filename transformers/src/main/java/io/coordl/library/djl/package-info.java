/**
 * Code that uses DJL's types: loaded by {@link io.coordl.pipeline.LibraryLoader}, once for each
 * interceptor or adapter and each loader of DJL in the program, and referenced only by name, apart
 * from {@link Djl}, which uses none of these types. Holds no array of the program longer than the
 * call or the image that needs it.
 */
@NullMarked
package io.coordl.library.djl;

import org.jspecify.annotations.NullMarked;
