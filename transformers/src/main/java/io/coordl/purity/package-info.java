/**
 * What the code of a transform or a data set reads, writes and draws, found in its class files: so
 * a strategy knows what it may run early or keep. Runs no code of the program; knows no library.
 */
@NullMarked
package io.coordl.purity;

import org.jspecify.annotations.NullMarked;
