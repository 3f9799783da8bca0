package example.tensorflow;

import example.rows.RowFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.StdArrays;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Gradients;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.Variable;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.types.TFloat32;

/**
 * Trains a logistic model with TensorFlow. Arguments: {@code DIRECTORY EPOCHS arrays|tensors}.
 * Prints the loss of each epoch with all its digits.
 */
public final class FlowLoop implements AutoCloseable {
  private static final int BATCH = 8;
  static final int FEATURES = 64;

  private final Graph graph = new Graph();
  private final Placeholder<TFloat32> rows;
  private final Operand<TFloat32> loss;
  private final Operand<TFloat32> update;
  private final Session session;

  private FlowLoop() {
    Ops tf = Ops.create(graph);
    rows = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1, FEATURES + 1)));
    Variable<TFloat32> weights = tf.variable(Shape.of(FEATURES, 1), TFloat32.class);
    Operand<TFloat32> features =
        tf.slice(rows, tf.constant(new int[] {0, 0}), tf.constant(new int[] {-1, FEATURES}));
    Operand<TFloat32> labels =
        tf.slice(rows, tf.constant(new int[] {0, FEATURES}), tf.constant(new int[] {-1, 1}));
    Operand<TFloat32> predicted = tf.math.sigmoid(tf.linalg.matMul(features, weights));
    loss =
        tf.math.mean(tf.math.square(tf.math.sub(predicted, labels)), tf.constant(new int[] {0, 1}));
    Gradients gradients = tf.gradients(loss, List.of(weights));
    update = tf.train.applyGradientDescent(weights, tf.constant(0.1f), gradients.<TFloat32>dy(0));
    Operand<TFloat32> initialized =
        tf.assign(weights, tf.zeros(tf.constant(new int[] {FEATURES, 1}), TFloat32.class));
    session =
        new Session(
            graph,
            ConfigProto.newBuilder()
                .setIntraOpParallelismThreads(1)
                .setInterOpParallelismThreads(1)
                .build());
    session.runner().addTarget(initialized).run();
  }

  public static void main(String[] args) throws IOException {
    List<Path> files = RowFiles.write(Path.of(args[0]), FEATURES);
    boolean arrays = args[2].equals("arrays");
    try (FlowLoop model = new FlowLoop()) {
      for (int epoch = 1; epoch <= Integer.parseInt(args[1]); epoch++) {
        double loss = 0;
        ArrayBatches batches = new ArrayBatches(files, BATCH);
        TensorBatches tensors = new TensorBatches(new ArrayBatches(files, BATCH));
        while (arrays ? batches.hasNext() : tensors.hasNext()) {
          if (arrays) {
            loss += model.step(batches.next());
          } else {
            try (TFloat32 batch = tensors.next()) {
              loss += model.step(batch);
            }
          }
        }
        System.out.println("epoch " + epoch + " loss " + loss);
      }
    }
  }

  float step(float[][] batch) {
    try (TFloat32 tensor = TFloat32.tensorOf(StdArrays.ndCopyOf(batch))) {
      return step(tensor);
    }
  }

  float step(TFloat32 batch) {
    try (Result result = session.runner().feed(rows, batch).addTarget(update).fetch(loss).run()) {
      return ((TFloat32) result.get(0)).getFloat();
    }
  }

  @Override
  public void close() {
    session.close();
    graph.close();
  }
}
