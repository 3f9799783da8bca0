/**
 * Code that uses the types of DL4J and ND4J. {@link io.coordl.pipeline.LibraryLoader} loads it once
 * for each interceptor or adapter and each loader of DL4J in the program. It is referenced only by
 * name, apart from {@link Dl4j}, which uses none of these types. When it supplies batches on the
 * program's threads, it runs only operations of ND4J that the program's own pipeline also runs, and
 * holds no array of the program longer than the call that needs it.
 */
@NullMarked
package io.coordl.library.dl4j;

import org.jspecify.annotations.NullMarked;
