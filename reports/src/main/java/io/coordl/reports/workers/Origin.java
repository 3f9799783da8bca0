package io.coordl.reports.workers;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Origin of an input. Every figure computed from inputs counts as the model's. */
public enum Origin {
  MEASURED,
  GIVEN,
  ASSUMED;

  @JsonValue
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
