package io.coordl.dl4j;

/**
 * Whether keeping batches is worth what it costs in the first epoch and in each look at an
 * iterator: of many small ones, or of batches of one record, it is not. Thread-safe.
 */
final class Worth {
  /** Epochs, or batches, after which it is told. */
  private static final int EPOCHS = 32;

  private static final int BATCHES = 256;

  /** Of the time that making the batches takes. */
  private static final double MOST = 0.5;

  private long overhead;
  private long making;
  private long made;
  private long found;
  private int epochs;
  private boolean left;

  /** An epoch has begun, which took so long. */
  synchronized void begun(long nanos) {
    epochs++;
    overhead += nanos;
    if (epochs % EPOCHS == 0) {
      tell();
    }
  }

  /**
   * @param nanos that it took
   * @param ofMaking that the program's own code took of these; 0 if it was found
   */
  synchronized void taken(long nanos, long ofMaking) {
    overhead += nanos - ofMaking;
    making += ofMaking;
    made += ofMaking > 0 ? 1 : 0;
    found += ofMaking > 0 ? 0 : 1;
    if ((made + found) % BATCHES == 0) {
      tell();
    }
  }

  private void tell() {
    double each = made == 0 ? 0 : (double) making / made;
    left |= overhead > MOST * (making + found * each);
  }

  /** False from when it has turned out not to be. */
  synchronized boolean isIt() {
    return !left;
  }
}
