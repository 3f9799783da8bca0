package io.coordl.reports.whatif;

import io.coordl.reports.differential.Measure;

/** A point of a curve; the error is that of the prediction. */
public record Point(double x, Measure y) {}
