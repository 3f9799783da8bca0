/**
 * Which hosts are there: one member per host, carried by one of its jobs, found and watched by
 * JGroups. The only package that knows JGroups; no item passes through here.
 */
@NullMarked
package io.coordl.partition.hosts.membership;

import org.jspecify.annotations.NullMarked;
