/**
 * Answers to calls of DJL and DL4J. Here: which class of ours answers which class of theirs, and
 * the loader that brings both together. Only the packages below this one know a library's types.
 */
@NullMarked
package io.coordl.library;

import org.jspecify.annotations.NullMarked;
