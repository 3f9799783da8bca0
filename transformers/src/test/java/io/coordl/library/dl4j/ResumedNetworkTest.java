package io.coordl.library.dl4j;

import static org.assertj.core.api.Assertions.assertThat;

import org.deeplearning4j.nn.conf.MultiLayerConfiguration;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.junit.jupiter.api.Test;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;

/** A network whose restore fails midway gets its earlier state back. */
class ResumedNetworkTest {
  private static final INDArray INPUT = Nd4j.ones(4, 3);
  private static final INDArray LABELS = Nd4j.ones(4, 2);

  private static MultiLayerNetwork network() {
    MultiLayerConfiguration configuration =
        new NeuralNetConfiguration.Builder()
            .seed(1)
            .updater(new Adam(0.1))
            .list()
            .layer(new OutputLayer.Builder().nIn(3).nOut(2).build())
            .build();
    MultiLayerNetwork network = new MultiLayerNetwork(configuration);
    network.init();
    return network;
  }

  @Test
  void aNetworkOfLayersGetsItsStateBack() {
    MultiLayerNetwork network = network();
    network.fit(INPUT, LABELS);
    INDArray parameters = network.params().dup();
    INDArray updater = network.updaterState().dup();
    ResumedNetwork.State before = ResumedNetwork.State.of(network);

    network.fit(INPUT, LABELS);
    network.setEpochCount(7);
    assertThat(network.params()).isNotEqualTo(parameters);
    assertThat(network.updaterState()).isNotEqualTo(updater);
    before.putBack(network);

    assertThat(network.params()).isEqualTo(parameters);
    assertThat(network.updaterState()).isEqualTo(updater);
    assertThat(network.getIterationCount()).isEqualTo(before.iterations()).isEqualTo(1);
    assertThat(network.getEpochCount()).isEqualTo(before.epochs()).isZero();
  }

  @Test
  void aGraphGetsItsStateBack() {
    ComputationGraph graph = network().toComputationGraph();
    graph.fit(new INDArray[] {INPUT}, new INDArray[] {LABELS});
    INDArray updater = graph.updaterState().dup();
    ResumedNetwork.State before = ResumedNetwork.State.of(graph);

    graph.fit(new INDArray[] {INPUT}, new INDArray[] {LABELS});
    assertThat(graph.updaterState()).isNotEqualTo(updater);
    before.putBack(graph);

    assertThat(graph.params()).isEqualTo(before.parameters());
    assertThat(graph.updaterState()).isEqualTo(updater);
    assertThat(graph.getConfiguration().getIterationCount()).isEqualTo(before.iterations());
  }
}
