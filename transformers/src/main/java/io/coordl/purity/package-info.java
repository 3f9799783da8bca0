/**
 * Finds what the code of a transform or a data set reads, writes and draws, from its class files,
 * so that a policy knows what it may run early or cache. Knows no library and runs no code of the
 * program, except initialisers that it has analysed.
 */
@NullMarked
package io.coordl.purity;

import org.jspecify.annotations.NullMarked;
