package io.coordl.reports.workers;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Origin of a worker's times. Figures computed from them are modelled, whatever the origin. */
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
