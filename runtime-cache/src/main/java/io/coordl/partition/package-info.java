/**
 * The partitioned cache (CoorDL paper, section 4.2): hosts hold the data set once between them, and
 * a local miss asks another host's memory before storage. Here: what the engines have in common;
 * each has a package of its own.
 */
@NullMarked
package io.coordl.partition;

import org.jspecify.annotations.NullMarked;
