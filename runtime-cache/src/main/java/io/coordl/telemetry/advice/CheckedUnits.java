package io.coordl.telemetry.advice;

/**
 * The result of {@code prepared=check} for the data sets of one class.
 *
 * @param source the class
 * @param units what was compared: {@code samples} or {@code batches}
 * @param compared number of units that the program has made twice
 * @param differed number of these that differed in any bit
 * @param left why other units were not compared; empty if there are none
 * @param all whether units of every data set of the class were compared
 * @param kept whether {@code prepared=share} caches at least a part of the preparation
 * @param reason why {@code prepared=share} caches nothing; empty if unknown
 * @param remedy the argument with which the units would be cached; empty if there is none
 */
public record CheckedUnits(
    String source,
    String units,
    long compared,
    long differed,
    String left,
    boolean all,
    boolean kept,
    String reason,
    String remedy) {

  /** Returns the line of the summary. */
  public String summary() {
    if (compared == 0) {
      return left.isEmpty()
          ? Sentence.CHECK_MADE_ONCE.with(source, units)
          : Sentence.CHECK_LEFT.with(source, left);
    }
    if (differed > 0) {
      return Sentence.CHECK_DIFFERED.with(source, differed, compared, units)
          + (kept ? Sentence.CHECK_PART : Sentence.CHECK_DO_NOT_VOUCH).with();
    }
    return Sentence.CHECK_EQUAL.with(source, compared, compared, units) + next();
  }

  private String next() {
    if (kept) {
      return Sentence.CHECK_NOT_NEEDED.with();
    }
    if (!all) {
      return Sentence.CHECK_OTHERS.with(); // The remedy would cover them, too.
    }
    if (!remedy.isEmpty()) {
      return Sentence.CHECK_VOUCH.with(remedy);
    }
    return reason.isEmpty() ? "" : Sentence.CHECK_IN_VAIN.with(reason);
  }
}
