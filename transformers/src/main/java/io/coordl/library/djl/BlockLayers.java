package io.coordl.library.djl;

import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.core.Linear;
import ai.djl.training.Trainer;
import ai.djl.util.Pair;
import io.coordl.telemetry.event.LayerEvent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The layers of a DJL model: blocks that directly own trained parameters, named by their path from
 * the root. The single block of an imported model is divided by the names of its parameters.
 */
public final class BlockLayers implements Function<Object, List<LayerEvent>> {

  @Override
  public List<LayerEvent> apply(Object trainer) {
    List<LayerEvent> layers = new ArrayList<>();
    add(layers, "", ((Trainer) trainer).getModel().getBlock(), new HashSet<>());
    return layers;
  }

  private static void add(List<LayerEvent> layers, String name, Block block, Set<String> counted) {
    Map<String, LayerEvent> own = new LinkedHashMap<>();
    for (Pair<String, Parameter> each : block.getDirectParameters()) {
      Parameter parameter = each.getValue();
      if (!parameter.requiresGradient() || !parameter.isInitialized()) {
        continue;
      }
      if (!counted.add(parameter.getId())) {
        continue; // Blocks may share parameters.
      }
      int dot = each.getKey().lastIndexOf('.');
      String part = dot < 0 ? "" : each.getKey().substring(0, dot);
      LayerEvent layer = own.computeIfAbsent(part, unknown -> new LayerEvent());
      long values = parameter.getShape().size();
      DataType type = parameter.getArray().getDataType();
      layer.layer = joined(name, part);
      layer.type = block.getClass().getSimpleName();
      layer.parameters += values;
      layer.bytes += values * type.getNumOfBytes();
      layer.inputs = block instanceof Linear ? inputs(block) : 0;
    }
    layers.addAll(own.values());
    for (Pair<String, Block> child : block.getChildren()) {
      add(layers, joined(name, child.getKey()), child.getValue(), counted);
    }
  }

  private static String joined(String name, String part) {
    return name.isEmpty() || part.isEmpty() ? name + part : name + "/" + part;
  }

  /**
   * Returns the number of values per sample, the product of all dimensions but the first; 0 if
   * unknown.
   */
  private static long inputs(Block block) {
    Shape[] shapes = block.getInputShapes();
    if (shapes == null || shapes.length == 0 || shapes[0].dimension() < 2) {
      return 0;
    }
    return Math.max(0, shapes[0].slice(1).size());
  }
}
