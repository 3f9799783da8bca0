package io.coordl.partition.hosts;

import java.net.InetSocketAddress;

/**
 * A host that holds items for others.
 *
 * @param name the same for all who see it, and for as long as the host's store lives, whichever of
 *     its jobs carries the member: the address and port it was given, as {@code 10.0.0.1:7800}
 * @param data where it serves items
 * @param capacity byte budget of its store: its weight in the choice of owners
 */
public record Member(String name, InetSocketAddress data, long capacity) {}
