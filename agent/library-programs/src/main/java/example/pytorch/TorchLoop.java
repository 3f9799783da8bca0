package example.pytorch;

import static org.bytedeco.pytorch.global.torch.binary_cross_entropy;
import static org.bytedeco.pytorch.global.torch.from_blob;
import static org.bytedeco.pytorch.global.torch.manual_seed;
import static org.bytedeco.pytorch.global.torch.relu;
import static org.bytedeco.pytorch.global.torch.set_num_threads;
import static org.bytedeco.pytorch.global.torch.sigmoid;

import example.rows.RowFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;

/**
 * Trains a small network with JavaCPP's PyTorch. Arguments: {@code DIRECTORY EPOCHS
 * arrays|tensors}. Prints the loss of each epoch with all its digits.
 */
public final class TorchLoop {
  private static final int BATCH = 8;
  static final int FEATURES = 64;

  private final Network network = new Network();
  private final SGD optimizer = new SGD(network.parameters(), new SGDOptions(0.1));

  private TorchLoop() {}

  public static void main(String[] args) throws IOException {
    manual_seed(7);
    set_num_threads(1);
    List<Path> files = RowFiles.write(Path.of(args[0]), FEATURES);
    TorchLoop model = new TorchLoop();
    boolean arrays = args[2].equals("arrays");
    for (int epoch = 1; epoch <= Integer.parseInt(args[1]); epoch++) {
      double loss = 0;
      if (arrays) {
        for (Iterator<Rows> batches = new ArrayBatches(files, BATCH); batches.hasNext(); ) {
          loss += model.step(batches.next());
        }
      } else {
        for (Iterator<Tensor> batches = new TensorBatches(files, BATCH); batches.hasNext(); ) {
          try (Tensor batch = batches.next()) {
            loss += model.step(batch);
          }
        }
      }
      System.out.println("epoch " + epoch + " loss " + loss);
    }
  }

  @SuppressWarnings("try") // The scope frees what is made inside.
  float step(Rows batch) {
    try (PointerScope scope = new PointerScope()) {
      Tensor features =
          from_blob(new FloatPointer(batch.features()), batch.labels().length, FEATURES);
      Tensor labels = Tensor.create(batch.labels(), batch.labels().length, 1);
      return update(features, labels);
    }
  }

  @SuppressWarnings("try") // The scope frees what is made inside.
  float step(Tensor batch) {
    try (PointerScope scope = new PointerScope()) {
      return update(batch.narrow(1, 0, FEATURES), batch.narrow(1, FEATURES, 1));
    }
  }

  private float update(Tensor features, Tensor labels) {
    optimizer.zero_grad();
    Tensor loss = binary_cross_entropy(network.forward(features), labels);
    loss.backward();
    optimizer.step();
    return loss.item_float();
  }

  private static final class Network extends Module {
    private final LinearImpl hidden = register_module("hidden", new LinearImpl(FEATURES, 16));
    private final LinearImpl output = register_module("output", new LinearImpl(16, 1));

    Tensor forward(Tensor features) {
      return sigmoid(output.forward(relu(hidden.forward(features))));
    }
  }
}
