package io.coordl.telemetry.advice;

/** Student's t at 97.5 %: the factor from a standard error to a confidence interval of 95 %. */
public final class Student {
  private static final double[] T = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042
  };

  private Student() {}

  /** Returns the factor for {@code degrees} degrees of freedom, at least 1. */
  public static double t(int degrees) {
    return degrees <= T.length ? T[degrees - 1] : 1.96 + 2.5 / degrees;
  }
}
