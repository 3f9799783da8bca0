package io.coordl.recording;

/**
 * A reading of one item store, for events and the summary; bytes and counts since the start of the
 * job, but for {@code used}, {@code items} and {@code jobs}, which are of the store.
 *
 * @param store form of the items: raw or decoded
 * @param scope process or host
 * @param group jobs that share it
 * @param bypassed openings that could not be kept: full, changed while read or unreadable
 * @param full whether something was not kept for want of room
 * @param jobs live jobs that use the store
 */
public record StoreView(
    String store,
    String scope,
    String group,
    long capacity,
    long used,
    long items,
    long hits,
    long misses,
    long admitted,
    long bypassed,
    long hitBytes,
    boolean full,
    long jobs) {}
