package io.coordl.reports.workers;

import org.jspecify.annotations.Nullable;

/**
 * A layer of a model; a list of layers is in the order in which the model runs them.
 *
 * @param millis forward and backward time for a minibatch, on a GPU whose {@link Kind#slowdown} is
 *     1; null if unknown
 * @param parameterBytes bytes of trainable parameters
 * @param activationBytes bytes of a minibatch's activations that the layer holds for its backward
 *     pass; 0 if unknown
 * @param inputs input values per sample of a fully connected layer; 0 for other layers
 */
public record Layer(
    String name,
    @Nullable Double millis,
    double parameterBytes,
    double activationBytes,
    long inputs) {
  boolean isFullyConnected() {
    return inputs > 0;
  }
}
