package io.coordl.reports.differential;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.event.Figures;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The agent's live attribution of the training thread's time: shares of the wall time, 0 to 1.
 *
 * @param of {@code job} for a whole job, else the name of a phase
 * @param figures totals of the job or phase; the wall time is positive
 */
public record Attribution(String file, String of, @JsonIgnore Figures figures) {
  double share(Part part) {
    return figures.share(part.of(figures));
  }

  @JsonAnyGetter
  Map<String, Double> shares() {
    Map<String, Double> shares = new LinkedHashMap<>();
    for (Part part : Part.values()) {
      shares.put(part.field(), share(part));
    }
    return shares;
  }
}
