package io.coordl.peers.hosts;

import java.net.InetSocketAddress;

/**
 * A host that caches items for others.
 *
 * @param name the host's address and port in the cluster, such as {@code 10.0.0.1:7800}; the same
 *     on every host and for the lifetime of the host's store, whichever of its jobs is the leader
 * @param data address at which it serves items
 * @param capacity byte budget of its store, which is its weight in the choice of owners
 */
public record Member(String name, InetSocketAddress data, long capacity) {}
