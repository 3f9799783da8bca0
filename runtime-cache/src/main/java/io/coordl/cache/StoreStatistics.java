package io.coordl.cache;

/**
 * State of a store and what one process had of it, at one moment.
 *
 * @param capacity byte budget
 * @param used bytes in use, with the index for raw items
 * @param items items and blocks kept
 * @param hits openings (of large files: blocks) answered from memory
 * @param misses openings (of large files: blocks) not answered from memory
 * @param admitted items and blocks this process has put in
 * @param peer misses answered from the memory of another host
 * @param bypassed misses that were not kept: the sum of the reasons that follow
 * @param bypassedFull there was no room
 * @param bypassedChanged the file changed while it was read
 * @param bypassedUnreadable the file could not be read
 * @param bypassedBusy another thread or job was reading the item for too long
 * @param spared misses whose memory is for items in the other form; see {@link SharedBudget}; not
 *     part of {@code bypassed}
 * @param hitBytes bytes answered from memory
 * @param missBytes bytes read from storage in order to keep them, or instead
 * @param peerBytes bytes answered from the memory of other hosts
 * @param jobs live jobs that use the store
 */
public record StoreStatistics(
    long capacity,
    long used,
    long items,
    long hits,
    long misses,
    long admitted,
    long peer,
    long bypassed,
    long bypassedFull,
    long bypassedChanged,
    long bypassedUnreadable,
    long bypassedBusy,
    long spared,
    long hitBytes,
    long missBytes,
    long peerBytes,
    long jobs) {}
