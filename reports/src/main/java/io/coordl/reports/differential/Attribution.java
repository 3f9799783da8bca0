package io.coordl.reports.differential;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonIgnore;
import io.coordl.telemetry.advice.CoreLaw;
import io.coordl.telemetry.advice.Part;
import io.coordl.telemetry.event.Figures;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The agent's live attribution of the training thread's time, as shares from 0 to 1.
 *
 * @param of {@code job} for a whole job, else the name of a phase
 * @param figures totals of the job or phase; the wall time is positive
 * @param cores cores that the job may use; 0 if unknown
 */
public record Attribution(
    String file, String of, @JsonIgnore Figures figures, @JsonIgnore double cores) {
  /**
   * Returns the part's share of the job's own time, as the phases count it: if the machine was
   * busy, the time in which other programs used the cores is left out.
   */
  double share(Part part) {
    CoreLaw law = new CoreLaw(figures, cores);
    if (!law.isMachineBusy()) {
      return figures.share(part.of(figures));
    }
    double preparing = Math.max(1, (double) figures.fetchStall + figures.prepStall);
    double nanos =
        switch (part) {
          case COMPUTE -> Math.max(0, (double) figures.compute - figures.computeCoreWait);
          case FETCH_STALL, PREP_STALL ->
              part.of(figures) * (1 - law.lostInPreparation() / preparing);
          default -> part.of(figures);
        };
    return nanos / law.own();
  }

  /**
   * Returns the share of the time in which other programs used the cores; 0 if the machine was not
   * busy.
   */
  double lost() {
    CoreLaw law = new CoreLaw(figures, cores);
    return law.isMachineBusy() ? 1 - law.own() / figures.wall : 0;
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
