package io.coordl.library.dl4j;

import io.coordl.pipeline.LibraryField;
import io.coordl.telemetry.event.LayerEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.deeplearning4j.nn.api.Layer;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.FeedForwardLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.graph.vertex.GraphVertex;
import org.deeplearning4j.nn.layers.FrozenLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.Solver;

/** The layers of a DL4J network that have trained parameters, in the order in which they run. */
public final class NetworkLayers implements Function<Object, List<LayerEvent>> {
  private final LibraryField<Model> model;

  public NetworkLayers() throws NoSuchFieldException {
    this.model = LibraryField.of(Solver.class, "model", Model.class);
  }

  @Override
  public List<LayerEvent> apply(Object solver) {
    List<LayerEvent> layers = new ArrayList<>();
    if (model.get(solver) instanceof MultiLayerNetwork network) {
      int width = network.params().dataType().width();
      for (Layer layer : network.getLayers()) {
        add(layers, layer, name(layer, String.valueOf(layer.getIndex())), width);
      }
    } else if (model.get(solver) instanceof ComputationGraph graph) {
      int width = graph.params().dataType().width();
      for (int vertex : graph.topologicalSortOrder()) {
        GraphVertex at = graph.getVertices()[vertex];
        if (at.hasLayer()) {
          add(layers, at.getLayer(), at.getVertexName(), width);
        }
      }
    }
    return layers;
  }

  private static String name(Layer layer, String otherwise) {
    String name = layer.conf().getLayer().getLayerName();
    return name == null ? otherwise : name;
  }

  private static void add(List<LayerEvent> layers, Layer layer, String name, int width) {
    long parameters = layer instanceof FrozenLayer ? 0 : layer.numParams();
    if (parameters == 0) {
      return;
    }
    org.deeplearning4j.nn.conf.layers.Layer configured = layer.conf().getLayer();
    LayerEvent event = new LayerEvent();
    event.layer = name;
    event.type = configured.getClass().getSimpleName();
    event.parameters = parameters;
    event.bytes = parameters * width;
    event.inputs =
        configured instanceof DenseLayer || configured instanceof OutputLayer
            ? ((FeedForwardLayer) configured).getNIn()
            : 0;
    layers.add(event);
  }
}
