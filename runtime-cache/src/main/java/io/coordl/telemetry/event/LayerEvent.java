package io.coordl.telemetry.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/**
 * Written once for each layer with trained parameters, at the first step of its model; for at most
 * 16 models, and at most 10,000 layers of each.
 */
@Name("io.coordl.Layer")
@Label("Layer")
@Description("One layer of a trained model and the size of its parameters, not their values.")
public final class LayerEvent extends EventBase {
  @Label("Model")
  @Description("Number of the model in this job, starting at 1")
  public long model;

  @Label("Place")
  @Description("Position of the layer in the model, starting at 1")
  public long place;

  @Label("Name")
  @Description("Name of the layer, after the names of its enclosing blocks")
  public @Nullable String layer;

  @Label("Type")
  @Description("Class of the layer")
  public @Nullable String type;

  @Label("Parameters")
  @Description("Number of trainable parameters")
  public long parameters;

  @Label("Bytes")
  @Description("Size of the parameters; their gradients have the same size")
  @DataAmount
  public long bytes;

  @Label("Inputs")
  @Description("Inputs per sample of a fully connected layer; 0 for other layers")
  public long inputs;
}
