/**
 * Membership: one member per host, represented by one of its jobs, discovered and monitored by
 * JGroups. The only package that uses JGroups; no item passes through it.
 */
@NullMarked
package io.coordl.peers.hosts.membership;

import org.jspecify.annotations.NullMarked;
