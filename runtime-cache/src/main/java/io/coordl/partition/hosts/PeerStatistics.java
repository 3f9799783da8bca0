package io.coordl.partition.hosts;

/**
 * What one job had of the other hosts so far.
 *
 * @param foundItems items that another host had
 * @param foundBytes their bytes
 * @param keptItems items that this job read from storage and another host keeps now
 * @param keptBytes their bytes
 * @param late questions that were not answered within the deadline
 * @param failed questions that were not answered at all
 * @param opened times that a host was given up for a while
 */
public record PeerStatistics(
    long foundItems,
    long foundBytes,
    long keptItems,
    long keptBytes,
    long late,
    long failed,
    long opened) {}
