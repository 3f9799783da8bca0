package io.coordl.bridge;

/**
 * The part a method plays in the way of a sample to the training step. A rewriting rule names the
 * kind; what follows from it is decided by the {@link SpanSink}.
 */
public enum SpanKind {
  /** Turning raw bytes into pixels, samples of sound or the like, or at once into an array. */
  DECODE,
  /** One transform of one sample or batch; the subject is the transform. */
  TRANSFORM,
  /** Joining samples into a batch (DJL: batchify). */
  ASSEMBLE,
  /** Loading one sample or record: everything read inside is an item of the data set. */
  SAMPLE,
  /** Preparing one batch; the result is the batch. */
  BATCH,
  /** A loop asks whether there is another batch ({@code hasNext}); the result is the answer. */
  ASK,
  /**
   * A loop takes a batch from its iterator ({@code next}), which prepares it now unless another
   * thread has; the result is the batch.
   */
  TAKE,
  /** The body of a prefetch thread or task: all batches made inside are for another thread. */
  PRODUCER,
  /**
   * A framework's training or evaluation loop; the thread that runs it is a training thread. The
   * subject is the only {@code int} of the method if it has one: the number of epochs.
   */
  FIT,
  /** One training step, or a part of it: the thread that runs it is a training thread. */
  COMPUTE,
  /** As COMPUTE, and it changes the model: what tells training from evaluation. */
  UPDATE,
  /**
   * The start of an epoch or evaluation ({@code getData}, {@code reset}); the subject is the data.
   */
  EPOCH,
  /**
   * Nothing is done, since an earlier job has done it: a step, or what the subject says, whole
   * epochs before the one that begins.
   */
  SKIPPED,
  /** The JVM is asked for a collection; the subject is by whom: class and method. */
  COLLECTION,
  /** Writing a model. */
  CHECKPOINT,
  /** Pixels that were decoded become an array: time of decoding, but no further image. */
  CONVERT
}
