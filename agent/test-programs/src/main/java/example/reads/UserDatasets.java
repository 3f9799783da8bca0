package example.reads;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.dataset.Record;
import ai.djl.translate.TranslateException;
import ai.djl.util.Progress;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Custom DJL data sets: one file per sample, or all samples in one file of records of equal length.
 * Arguments: {@code HOW PATH EPOCHS [RECORD_BYTES]}; prints a line per batch: {@code batch EPOCH
 * NUMBER CRC32}.
 *
 * <p>HOW is readallbytes or fileinputstream if PATH is a folder, and randomaccessfile or
 * filechannel if PATH is a file of records. That file stays open for the whole run, as is usual for
 * such data sets.
 */
public final class UserDatasets {
  private static final int BATCH = 8;

  /** Bytes used of each sample: files differ in length, but the arrays of a batch must not. */
  private static final int USED = 1024;

  private UserDatasets() {}

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, TranslateException {
    Path path = Path.of(args[1]);
    int epochs = Integer.parseInt(args[2]);
    int recordBytes = args.length > 3 ? Integer.parseInt(args[3]) : 4096;
    try (Samples samples = samples(args[0], path, recordBytes);
        NDManager manager = NDManager.newBaseManager()) {
      UserData data = new UserData.Builder().samples(samples).setSampling(BATCH, false).build();
      for (int epoch = 1; epoch <= epochs; epoch++) {
        int number = 0;
        for (Batch batch : data.getData(manager)) {
          number++;
          CRC32 crc = new CRC32();
          crc.update(batch.getData().head().toByteBuffer());
          System.out.printf(Locale.ROOT, "batch %d %d %08x%n", epoch, number, crc.getValue());
          batch.close();
        }
      }
    }
  }

  private static Samples samples(String how, Path path, int recordBytes) throws IOException {
    return switch (how) {
      case "readallbytes" -> new FilePerSample(list(path), Files::readAllBytes);
      case "fileinputstream" -> new FilePerSample(list(path), UserDatasets::stream);
      case "randomaccessfile" -> new Records(path, recordBytes);
      case "filechannel" -> new ChannelRecords(path, recordBytes);
      default ->
          throw new IllegalArgumentException(
              how
                  + " is unknown; expected readallbytes, fileinputstream, randomaccessfile or"
                  + " filechannel.");
    };
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static byte[] stream(Path file) throws IOException {
    try (InputStream in = new FileInputStream(file.toFile())) {
      return in.readAllBytes();
    }
  }

  /** The source of the samples' bytes. */
  private interface Samples extends AutoCloseable {
    long count() throws IOException;

    byte[] read(long index) throws IOException;

    @Override
    default void close() throws IOException {}
  }

  private interface Reading {
    byte[] read(Path file) throws IOException;
  }

  private record FilePerSample(List<Path> files, Reading reading) implements Samples {
    @Override
    public long count() {
      return files.size();
    }

    @Override
    public byte[] read(long index) throws IOException {
      return reading.read(files.get(Math.toIntExact(index)));
    }
  }

  private static final class Records implements Samples {
    private final RandomAccessFile file;
    private final int bytes;

    Records(Path path, int bytes) throws IOException {
      file = new RandomAccessFile(path.toFile(), "r");
      this.bytes = bytes;
    }

    @Override
    public long count() throws IOException {
      return file.length() / bytes;
    }

    @Override
    public byte[] read(long index) throws IOException {
      byte[] sample = new byte[bytes];
      file.seek(index * bytes);
      file.readFully(sample);
      return sample;
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  private static final class ChannelRecords implements Samples {
    private final FileChannel channel;
    private final int bytes;

    ChannelRecords(Path path, int bytes) throws IOException {
      channel = FileChannel.open(path);
      this.bytes = bytes;
    }

    @Override
    public long count() throws IOException {
      return channel.size() / bytes;
    }

    @Override
    public byte[] read(long index) throws IOException {
      ByteBuffer sample = ByteBuffer.allocate(bytes);
      while (sample.hasRemaining()
          && channel.read(sample, index * bytes + sample.position()) >= 0) {
        // Read until the record is complete.
      }
      return sample.array();
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  private static final class UserData extends RandomAccessDataset {
    private final Samples samples;

    UserData(Builder builder) {
      super(builder);
      samples = builder.samples;
    }

    @Override
    public Record get(NDManager manager, long index) throws IOException {
      ByteBuffer used = ByteBuffer.allocate(USED);
      byte[] sample = samples.read(index);
      used.put(sample, 0, Math.min(USED, sample.length)).rewind();
      return new Record(
          new NDList(manager.create(used, new Shape(USED), DataType.UINT8)),
          new NDList(manager.create(index)));
    }

    @Override
    protected long availableSize() {
      try {
        return samples.count();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void prepare(Progress progress) {}

    static final class Builder extends BaseBuilder<Builder> {
      private Samples samples;

      Builder samples(Samples newSamples) {
        samples = newSamples;
        return this;
      }

      UserData build() {
        return new UserData(this);
      }

      @Override
      protected Builder self() {
        return this;
      }
    }
  }
}
