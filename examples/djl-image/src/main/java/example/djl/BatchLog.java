package example.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.Trainer;
import ai.djl.training.listener.TrainingListenerAdapter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.CRC32;

/**
 * Logs the batch and loss of every step, to compare two runs bit by bit.
 *
 * <p>Lines: {@code batch EPOCH NUMBER CRC32_OF_DATA CRC32_OF_LABELS LOSS_AS_FLOAT_BITS}, the last
 * three in hexadecimal; {@code items EPOCH NUMBER INDEX INDEX ..}, the pictures of that batch; and
 * {@code epoch EPOCH WALL_MILLISECONDS} after the last batch of an epoch. Numbers count from 1,
 * indices from 0. With {@code -Dexample.bytes=DIRECTORY} the bytes of data and labels are saved
 * there under their checksum. Called by the training thread only.
 */
final class BatchLog extends TrainingListenerAdapter implements AutoCloseable {
  private static final String BYTES = System.getProperty("example.bytes");

  private final PrintWriter out;
  private long epochStart = System.nanoTime();
  private int epoch = 1;
  private int batch;

  BatchLog(Path file) throws IOException {
    out = new PrintWriter(Files.newBufferedWriter(file));
  }

  @Override
  public void onTrainingBegin(Trainer trainer) {
    epochStart = System.nanoTime();
  }

  @Override
  public void onTrainingBatch(Trainer trainer, BatchData data) {
    float loss = 0;
    for (var device : data.getLabels().keySet()) {
      try (NDArray value =
          trainer
              .getLoss()
              .evaluate(data.getLabels().get(device), data.getPredictions().get(device))) {
        loss += value.getFloat();
      }
    }
    batch++;
    out.printf(
        Locale.ROOT,
        "batch %d %d %08x %08x %08x%n",
        epoch,
        batch,
        checksum(data.getBatch().getData()),
        checksum(data.getBatch().getLabels()),
        Float.floatToRawIntBits(loss));
    out.printf(Locale.ROOT, "items %d %d", epoch, batch);
    if (data.getBatch().getIndices() != null) {
      data.getBatch().getIndices().forEach(index -> out.print(" " + index));
    }
    out.println();
  }

  @Override
  public void onEpoch(Trainer trainer) {
    long now = System.nanoTime();
    out.printf(Locale.ROOT, "epoch %d %d%n", epoch, (now - epochStart) / 1_000_000);
    // Even a killed run leaves its finished epochs in the log.
    out.flush();
    epochStart = now;
    epoch++;
    batch = 0;
  }

  @Override
  public void close() {
    out.close();
  }

  private static long checksum(NDList arrays) {
    CRC32 crc = new CRC32();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (NDArray array : arrays) {
      byte[] bytes = array.toByteArray();
      crc.update(bytes);
      all.writeBytes(bytes);
    }
    if (BYTES != null) {
      save(crc.getValue(), all.toByteArray());
    }
    return crc.getValue();
  }

  private static void save(long checksum, byte[] bytes) {
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
