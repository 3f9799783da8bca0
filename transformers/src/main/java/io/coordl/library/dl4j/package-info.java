/**
 * Code that touches the types of DL4J and ND4J: loaded once per loader of DL4J in the program, by
 * {@link io.coordl.pipeline.LibraryLoader}, and referred to by name only. On the program's threads
 * it runs no operation of ND4J but those of the program's own pipeline, and keeps no array beyond
 * the call it is for.
 */
@NullMarked
package io.coordl.library.dl4j;

import org.jspecify.annotations.NullMarked;
