package example.dl4j;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.IdentityHashMap;
import java.util.Locale;
import java.util.zip.CRC32;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.api.layers.IOutputLayer;
import org.deeplearning4j.nn.graph.ComputationGraph;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.api.BaseTrainingListener;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Logs the batch and loss of every step, to compare two runs bit by bit.
 *
 * <p>Lines: {@code batch EPOCH NUMBER CRC32_OF_DATA CRC32_OF_LABELS LOSS_AS_FLOAT_BITS}, the last
 * three in hexadecimal; {@code items EPOCH NUMBER CRC32 CRC32 ..}, checksums of the pictures of
 * that batch, because a model does not know their indices; and {@code epoch EPOCH
 * WALL_MILLISECONDS} after the last batch of an epoch. Numbers count from 1. With {@code
 * -Dexample.bytes=DIRECTORY} the bytes are saved there under their checksum. Synchronized, because
 * ParallelWrapper trains on several threads; then the order of the lines differs from run to run.
 */
final class BatchLog extends BaseTrainingListener implements AutoCloseable {
  private static final String BYTES = System.getProperty("example.bytes");

  private final PrintWriter out;
  private final IdentityHashMap<Model, BatchChecksums> batches = new IdentityHashMap<>();
  private long epochStart = System.nanoTime();
  private int epoch = 1;
  private int batch;

  private record BatchChecksums(String checksums, String items) {}

  BatchLog(Path file) throws IOException {
    out = new PrintWriter(Files.newBufferedWriter(file));
  }

  /** Starts the clock; call before the first epoch. */
  synchronized void beginEpoch() {
    epochStart = System.nanoTime();
  }

  /** Records the batch. This is the last callback in which every kind of model still has it. */
  @Override
  public synchronized void onBackwardPass(Model model) {
    ByteBuffer data = bytes(data(model));
    String checksums =
        String.format(Locale.ROOT, "%08x %08x", checksum(data), checksum(bytes(labels(model))));
    StringBuilder items = new StringBuilder();
    int picture = data.capacity() / (int) data(model).size(0);
    for (int start = 0; start < data.capacity(); start += picture) {
      items.append(String.format(Locale.ROOT, " %08x", checksum(data.slice(start, picture))));
    }
    batches.put(model, new BatchChecksums(checksums, items.toString()));
  }

  @Override
  public synchronized void iterationDone(Model model, int iteration, int epochOfModel) {
    batch++;
    BatchChecksums last = batches.remove(model);
    out.printf(
        Locale.ROOT,
        "batch %d %d %s %08x%n",
        epoch,
        batch,
        last.checksums(),
        Float.floatToRawIntBits((float) model.score()));
    out.printf(Locale.ROOT, "items %d %d%s%n", epoch, batch, last.items());
  }

  /**
   * Logs the end of an epoch; call after each, because not every loop of DL4J notifies its
   * listeners.
   */
  synchronized void endEpoch() {
    long now = System.nanoTime();
    out.printf(Locale.ROOT, "epoch %d %d%n", epoch, (now - epochStart) / 1_000_000);
    // Even a killed run leaves its finished epochs in the log.
    out.flush();
    epochStart = now;
    epoch++;
    batch = 0;
  }

  @Override
  public synchronized void close() {
    out.close();
  }

  private static INDArray data(Model model) {
    return model instanceof ComputationGraph graph
        ? graph.getInput(0)
        : ((MultiLayerNetwork) model).getInput();
  }

  private static INDArray labels(Model model) {
    return model instanceof ComputationGraph graph
        ? ((IOutputLayer) graph.getOutputLayer(0)).getLabels()
        : ((MultiLayerNetwork) model).getLabels();
  }

  private static ByteBuffer bytes(INDArray array) {
    // A copy in c order: the array itself may be a view into a larger buffer.
    INDArray copy = array.dup('c');
    try {
      ByteBuffer memory = copy.data().pointer().asByteBuffer();
      return ByteBuffer.allocate(memory.remaining()).put(memory).flip();
    } finally {
      Reference.reachabilityFence(copy); // Otherwise its memory may be freed during the read.
    }
  }

  private static long checksum(ByteBuffer bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes.duplicate());
    if (BYTES != null) {
      save(crc.getValue(), bytes.duplicate());
    }
    return crc.getValue();
  }

  private static void save(long checksum, ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    Path file = Path.of(BYTES, String.format(Locale.ROOT, "%08x.bytes", checksum));
    try {
      if (!Files.exists(file)) {
        Files.write(file, bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
