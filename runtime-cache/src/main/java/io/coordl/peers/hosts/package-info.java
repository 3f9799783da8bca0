/**
 * The embedded engine: one member per host, which caches items in the arena that the host's jobs
 * share. Rendezvous hashing assigns each item an owner, and sockets carry the bytes. A {@link
 * io.coordl.peers.hosts.Membership} supplies the current members.
 */
@NullMarked
package io.coordl.peers.hosts;

import org.jspecify.annotations.NullMarked;
