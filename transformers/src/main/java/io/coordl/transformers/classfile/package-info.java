/**
 * Reads class files in place: constant pool, names and methods, without a parser's objects, so a
 * class that no rule changes is dismissed within microseconds. Also has the listener for applied
 * rules. Knows no rule and loads no class.
 */
@NullMarked
package io.coordl.transformers.classfile;

import org.jspecify.annotations.NullMarked;
