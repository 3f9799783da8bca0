/**
 * Class files read in place: constant pool, names and methods, without a parser's objects. What
 * tells in microseconds that a class is none to change. Knows no rule and loads no class.
 */
@NullMarked
package io.coordl.transformers.classfile;

import org.jspecify.annotations.NullMarked;
