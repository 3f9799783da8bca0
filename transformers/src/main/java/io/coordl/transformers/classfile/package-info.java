/**
 * Class files read in place: constant pool, names and methods, without a parser's objects, so that
 * a class that no rule changes is dismissed within microseconds; and the listener that hears what
 * rules did to a class. Knows no rule and loads no class.
 */
@NullMarked
package io.coordl.transformers.classfile;

import org.jspecify.annotations.NullMarked;
