/**
 * The partitioned cache (CoorDL paper, section 4.2): the hosts together hold the data set once, and
 * a local miss asks another host's memory before storage. This package has what the engines share;
 * each engine has its own package.
 */
@NullMarked
package io.coordl.peers;

import org.jspecify.annotations.NullMarked;
