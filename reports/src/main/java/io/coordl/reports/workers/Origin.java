package io.coordl.reports.workers;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** Where an input comes from. Everything that is computed from inputs is the model's. */
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
