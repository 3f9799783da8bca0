package io.coordl.telemetry.event;

import java.util.stream.Stream;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

@Name("io.coordl.Epoch")
@Label("Epoch")
@Description("One epoch or evaluation ended; all figures cover it alone.")
public final class EpochEvent extends Figures {
  @Label("Epoch")
  @Description("Number of the epoch, starting at 1; evaluations count too")
  public long epoch;

  @Label("Source")
  @Description("Class of the iterator or data set")
  public @Nullable String source;

  @Label("Data Set")
  @Description("Class of the data set whose batches the source yields; the source's if unknown")
  @Added("0.2.0")
  public @Nullable String dataset;

  @Label("Model")
  @Description(
      "Number of the updated model, as in Layer events: models with the same layers have the"
          + " number of the first; 0 if unknown")
  @Added("0.2.0")
  public long model;

  @Label("Complete")
  @Description("False if the loop left the epoch early")
  public boolean complete;

  public static Figures sum(Stream<? extends Figures> figures) {
    Figures sum = new EpochEvent();
    figures.forEach(sum::add);
    return sum;
  }
}
