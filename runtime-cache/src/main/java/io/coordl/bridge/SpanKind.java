package io.coordl.bridge;

/**
 * The role of a method on a sample's path to the training step. A rewriting rule names the kind;
 * the {@link SpanSink} interprets it.
 */
public enum SpanKind {
  /**
   * Turning raw bytes into pixels, audio samples or the like, or directly into an array. The
   * subject is the library's decoder, or the path for OpenCV's {@code imread}. If the program
   * itself calls {@code ImageIO}, the subject is that name for a file and the class for any other
   * source.
   */
  DECODE,
  /** Transforming one sample or batch; the subject is the transform. */
  TRANSFORM,
  /** Joining samples into a batch (DJL: batchify). */
  ASSEMBLE,
  /** Loading one sample or record: every file read inside is an item of the data set. */
  SAMPLE,
  /** Preparing one batch; the result is the batch. */
  BATCH,
  /** A loop queries whether there is another batch ({@code hasNext}); the result is the answer. */
  ASK,
  /**
   * A loop takes a batch from its iterator ({@code next}), which prepares it now unless another
   * thread has done so; the result is the batch.
   */
  TAKE,
  /** The body of a prefetch thread or task: all batches produced inside are for another thread. */
  PRODUCER,
  /**
   * A framework's training or evaluation loop; its thread is a training thread. The subject is the
   * method's only {@code int} parameter, if any: the number of epochs.
   */
  FIT,
  /** One training step, or part of it; its thread is a training thread. */
  COMPUTE,
  /** Like COMPUTE, but changes the model, which distinguishes training from evaluation. */
  UPDATE,
  /** The start of an epoch or evaluation ({@code reset}); the subject is the data. */
  EPOCH,
  /**
   * A data set reads what it needs before an epoch (DJL: {@code prepare}); the subject is the data.
   */
  DATA_SET,
  /**
   * Skipped work that an earlier job has already done: a step or, if the subject is a number, that
   * many whole epochs.
   */
  SKIPPED,
  /** A requested garbage collection; the subject is the caller: class and method. */
  COLLECTION,
  /** Writing a model. */
  CHECKPOINT,
  /**
   * Converting decoded pixels to an array: adds to decoding time, but does not count as another
   * image.
   */
  CONVERT,
  /** A mark: the image that is being decoded comes from memory, so it does not count as decoded. */
  REUSED
}
