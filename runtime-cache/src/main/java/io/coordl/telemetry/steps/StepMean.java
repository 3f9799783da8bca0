package io.coordl.telemetry.steps;

import io.coordl.telemetry.advice.Student;
import io.coordl.telemetry.event.Figures;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A mean over successive steps, such as the time of a sample, with its standard error.
 *
 * <p>Successive steps are not independent, so the error comes from the means of batches of
 * successive steps. The steps are divided into 20 batches, or fewer while the means of successive
 * batches are still correlated. Any remaining correlation widens the error as in a first-order
 * autoregressive series. (B. W. Schmeiser, Batch size effects in the analysis of simulation output,
 * Operations Research 30(3), 1982; A. Tafazzoli, J. R. Wilson, Skart, IIE Transactions 43(2),
 * 2011.)
 *
 * @param value the mean: the ratio of two sums, such as time over samples
 * @param error its standard error
 * @param freedom degrees of freedom of the error, at least 1
 */
public record StepMean(double value, double error, int freedom) {
  private static final int[] BATCHES = {20, 16, 12, 8};

  /** Bound on the estimated correlation, which keeps the error finite. */
  private static final double MAX_CORRELATION = 0.8;

  /**
   * Returns the ratio of the sums of {@code amount} and {@code per} over at least four ordered
   * steps.
   */
  public static StepMean of(
      List<? extends Figures> steps,
      ToDoubleFunction<? super Figures> amount,
      ToDoubleFunction<? super Figures> per) {
    double[] means = {};
    double correlation = 0;
    for (int count : BATCHES) {
      means = means(steps, amount, per, Math.min(count, steps.size() / 2));
      correlation = correlation(means);
      if (correlation < 1 / Math.sqrt(means.length)) {
        break;
      }
    }
    // The estimated correlation is too low by about half of 1 / means.length.
    double residual = Math.max(0, Math.min(MAX_CORRELATION, correlation + 0.5 / means.length));
    StepMean plain = ofRuns(means);
    return new StepMean(
        steps.stream().mapToDouble(amount).sum() / steps.stream().mapToDouble(per).sum(),
        plain.error * Math.sqrt((1 + residual) / (1 - residual)),
        plain.freedom);
  }

  /** Returns the mean of at least two independent figures. */
  public static StepMean ofRuns(double... values) {
    double mean = Arrays.stream(values).average().orElseThrow();
    double squares = squares(values, mean);
    int freedom = values.length - 1;
    return new StepMean(mean, Math.sqrt(squares / freedom / values.length), freedom);
  }

  private static double[] means(
      List<? extends Figures> steps,
      ToDoubleFunction<? super Figures> amount,
      ToDoubleFunction<? super Figures> per,
      int batches) {
    double[] amounts = new double[batches];
    double[] denominators = new double[batches];
    for (int i = 0; i < steps.size(); i++) {
      int batch = (int) ((long) i * batches / steps.size());
      amounts[batch] += amount.applyAsDouble(steps.get(i));
      denominators[batch] += per.applyAsDouble(steps.get(i));
    }
    for (int batch = 0; batch < batches; batch++) {
      amounts[batch] /= denominators[batch];
    }
    return amounts;
  }

  /** Returns the correlation of each mean with the next; 0 if all are equal. */
  private static double correlation(double[] means) {
    double mean = Arrays.stream(means).average().orElseThrow();
    double squares = squares(means, mean);
    double products = 0;
    for (int i = 1; i < means.length; i++) {
      products += (means[i] - mean) * (means[i - 1] - mean);
    }
    return squares == 0 ? 0 : products / squares;
  }

  private static double squares(double[] values, double mean) {
    return Arrays.stream(values).map(value -> (value - mean) * (value - mean)).sum();
  }

  /** Returns half the width of the mean's 95 % confidence interval. */
  public double halfWidth() {
    return Student.t(freedom) * error;
  }
}
