/**
 * The embedded engine: one member per host, the items of each in the arena that its jobs share, an
 * owner for each item by rendezvous hashing, and the bytes by plain sockets. Who is there is told
 * by a {@link io.coordl.partition.hosts.Membership}.
 */
@NullMarked
package io.coordl.partition.hosts;

import org.jspecify.annotations.NullMarked;
