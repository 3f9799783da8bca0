package io.coordl.recording;

/**
 * A reading of one item store, for events and the summary; bytes and counts since the start of the
 * job, but for {@code used}, {@code items} and {@code jobs}, which are of the store.
 *
 * @param store form of the items: raw or decoded
 * @param scope process or host
 * @param group jobs that share it
 * @param peer misses answered from the memory of another host
 * @param bypassed openings that could not be kept: full, changed while read or unreadable
 * @param full whether something was not kept for want of room
 * @param order where raw and decoded items share the capacity and it was chosen which of them are
 *     admitted first: first or second; else empty
 * @param itemBytes length of an item, as measured for the choice; 0 if there is none
 * @param itemSaves nanoseconds that such an item saves when it is found
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
    long peer,
    long bypassed,
    long hitBytes,
    long peerBytes,
    boolean full,
    String order,
    long itemBytes,
    long itemSaves,
    long jobs) {}
