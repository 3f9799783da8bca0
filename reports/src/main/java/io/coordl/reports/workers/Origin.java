package io.coordl.reports.workers;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Origin of an input. Figures computed from inputs are attributed to the model. */
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
