package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** One layer of a model, written once, when the model makes its first step. */
@Name("io.coordl.Layer")
@Label("Layer")
@Description("One layer of a model that is trained, and what its parameters take; no weights.")
public final class LayerEvent extends EventBase {
  @Label("Model")
  @Description("Number of the model in this job, from 1 on")
  public long model;

  @Label("Place")
  @Description("Place of the layer in the model, from 1 on")
  public long place;

  @Label("Name")
  @Description("Name of the layer, with those of the blocks it is in")
  public @Nullable String layer;

  @Label("Type")
  @Description("Class of the layer")
  public @Nullable String type;

  @Label("Parameters")
  @Description("Trained parameters")
  public long parameters;

  @Label("Bytes")
  @Description("What these take, and so do their gradients")
  @DataAmount
  public long bytes;

  @Label("Inputs")
  @Description("Values that a fully connected layer takes of a sample; 0 for other layers")
  public long inputs;
}
