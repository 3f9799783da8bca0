/** The external engine: items in a Redis or Valkey server or cluster that the user runs. */
@NullMarked
package io.coordl.peers.redis;

import org.jspecify.annotations.NullMarked;
