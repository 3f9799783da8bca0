package io.coordl.recording;

/**
 * What was asked of one other host since the start of the job; times in nanoseconds over all
 * threads.
 *
 * @param found questions answered with an item
 * @param absent questions answered by not having it
 * @param kept items sent there and kept there
 * @param late questions not answered within the deadline
 * @param failed questions not answered at all
 * @param receivedBytes of items that came from there
 * @param sentBytes of items that went there
 * @param foundTime until an item was here
 * @param keptTime until an item was there
 * @param lostTime until a question was given up
 */
public record PeerView(
    String peer,
    long found,
    long absent,
    long kept,
    long late,
    long failed,
    long receivedBytes,
    long sentBytes,
    long foundTime,
    long keptTime,
    long lostTime) {}
