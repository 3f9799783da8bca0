package example.loader;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.basicdataset.tabular.CsvDataset;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.apache.commons.csv.CSVFormat;

/**
 * The data pipeline of a DJL job, without training: pictures, cropped at random to squares,
 * flipped, converted to tensors and normalised, in batches of 32; or the rows of a table.
 * Arguments: a folder with one folder of pictures per class, or a .csv file with a header whose
 * last column is the label; epochs; threads (0: load on the training thread); the size of a crop
 * (default 64).
 */
public final class DjlLoader {
  private static final int SIZE = 64;
  private static final int BATCH = 32;

  private DjlLoader() {}

  public static void main(String[] args) throws IOException, TranslateException {
    int epochs = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    RandomAccessDataset data =
        args[0].endsWith(".csv")
            ? table(Path.of(args[0]))
            : pictures(Path.of(args[0]), args.length > 3 ? Integer.parseInt(args[3]) : SIZE);
    data.prepare();
    ExecutorService pool = threads > 0 ? Executors.newFixedThreadPool(threads) : null;
    try (NDManager manager = NDManager.newBaseManager()) {
      EpochLines lines = new EpochLines();
      for (int epoch = 0; epoch < epochs; epoch++) {
        int samples = 0;
        for (Batch batch : data.getData(manager, pool)) {
          samples += batch.getSize();
          batch.close();
        }
        lines.endEpoch(samples);
      }
    } finally {
      if (pool != null) {
        pool.shutdown();
      }
    }
  }

  private static RandomAccessDataset table(Path file) throws IOException {
    CsvDataset.CsvBuilder<?> builder =
        CsvDataset.builder()
            .optCsvFile(file)
            .setCsvFormat(CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).get());
    List<String> columns;
    try (Stream<String> lines = Files.lines(file)) {
      columns = List.of(lines.findFirst().orElseThrow().split(",", -1));
    }
    columns.subList(0, columns.size() - 1).forEach(builder::addNumericFeature);
    builder.addNumericLabel(columns.get(columns.size() - 1));
    return builder.setSampling(BATCH, true).build();
  }

  private static RandomAccessDataset pictures(Path folder, int size) {
    return ImageFolder.builder()
        .setRepositoryPath(folder)
        .optMaxDepth(2)
        .setSampling(BATCH, true)
        .addTransform(new RandomResizedCrop(size, size))
        .addTransform(new RandomFlipLeftRight())
        .addTransform(new ToTensor())
        .addTransform(
            new Normalize(new float[] {.485f, .456f, .406f}, new float[] {.229f, .224f, .225f}))
        .build();
  }
}
