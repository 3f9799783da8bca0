package io.coordl.staging;

/**
 * What this job did in the epochs through one pipeline of its group, since it began.
 *
 * @param pipeline a checksum of its fingerprint
 * @param capacity bytes of the staging buffer, -1 if there is none: the job prepares by itself
 * @param slotBytes 0 until a first batch was prepared
 * @param jobs that are in the group now, this one included
 * @param epochs begun
 * @param sharedEpochs of these, in which other jobs took part
 * @param prepared batches staged by this job
 * @param mapped batches taken without a copy
 * @param copied batches taken by a copy: the library copies all, too many were kept, or one could
 *     not be mapped
 * @param takenBytes of both
 * @param nobody batches left to the program since no job prepared any (more)
 * @param notStaged since they were too large or there was no memory
 * @param late since the job that had begun one did not get on
 * @param lost since the job had been taken out of the epoch
 * @param waitNanos that the program waited for batches of any job
 * @param waitedForNanos that threads which prepare waited for room until other jobs had got on
 * @param slowestJob process id of the one that was waited for longest, 0 if none was
 * @param waitedForSlowestNanos the part of that job
 * @param takeOvers claims taken over from jobs that died or were stopped
 * @param dropped how often a job was taken out of an epoch since it did not get on
 * @param tooLate batches prepared here after others had taken the claims over
 * @param updates of a model between batches of one epoch: none in evaluations
 */
public record StagingStatistics(
    String group,
    String pipeline,
    long capacity,
    long slots,
    long slotBytes,
    long jobs,
    long epochs,
    long sharedEpochs,
    long prepared,
    long mapped,
    long copied,
    long takenBytes,
    long nobody,
    long notStaged,
    long late,
    long lost,
    long waitNanos,
    long waitedForNanos,
    long slowestJob,
    long waitedForSlowestNanos,
    long takeOvers,
    long dropped,
    long tooLate,
    long updates) {

  /** Batches that the job prepared by itself after all. */
  public long alone() {
    return nobody + notStaged + late + lost;
  }

  /** Batches that came from the buffer. */
  public long taken() {
    return mapped + copied;
  }
}
