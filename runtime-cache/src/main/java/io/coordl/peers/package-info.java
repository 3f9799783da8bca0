/**
 * The partitioned cache (CoorDL paper, section 4.2): the hosts together cache the data set once,
 * and a local miss is requested from another host's memory, or from Redis, before storage. This
 * package contains what the engines share; each engine has its own package.
 */
@NullMarked
package io.coordl.peers;

import org.jspecify.annotations.NullMarked;
