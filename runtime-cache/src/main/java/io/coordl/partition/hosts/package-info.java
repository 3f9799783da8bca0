/**
 * The embedded engine: one member per host, which keeps items in the arena that the host's jobs
 * share. Rendezvous hashing assigns each item an owner, and sockets carry the bytes. A {@link
 * io.coordl.partition.hosts.Membership} supplies the current members.
 */
@NullMarked
package io.coordl.partition.hosts;

import org.jspecify.annotations.NullMarked;
