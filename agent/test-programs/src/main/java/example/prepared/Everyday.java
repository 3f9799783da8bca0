package example.prepared;

import ai.djl.basicdataset.tabular.utils.Feature;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Record;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Data sets like those of everyday programs: mutable settings, parsed rows, nested objects. */
final class Everyday {
  private static final int LENGTH = 2_000;

  private Everyday() {}

  /** Returns numbers whose computation takes long enough to be worth caching. */
  static float[] wave(float start) {
    float[] wave = new float[LENGTH];
    float phase = start;
    for (int i = 0; i < LENGTH; i++) {
      for (int k = 0; k < 8; k++) {
        phase = (float) Math.sin(phase + i + k);
      }
      wave[i] = phase;
    }
    return wave;
  }

  private static Record record(NDManager manager, float start, long index) {
    return new Record(
        new NDList(manager.create(wave(start))), new NDList(manager.create(index % 2)));
  }

  /** A series with DJL's {@code Feature}s, whose names are in non-final fields. */
  static final class OfFeatures extends DjlSamples.Counting {
    List<Feature> features = new ArrayList<>();
    int window = 3;

    OfFeatures(DjlSamples.Builder builder) {
      super(builder);
      features.add(new Feature("price", true));
      features.add(new Feature("sales", true));
    }

    @Override
    public Record get(NDManager manager, long index) {
      float start = index * window;
      for (Feature feature : features) {
        start += feature.getName().length();
      }
      return record(manager, start, index);
    }
  }

  /** Rows of a table that the program reads once. */
  static final class OfRecords extends DjlSamples.Counting {
    private final List<CSVRecord> rows;

    OfRecords(DjlSamples.Builder builder, Path file) throws IOException {
      super(builder);
      CSVFormat format = CSVFormat.DEFAULT.builder().setHeader().setSkipHeaderRecord(true).get();
      try (Reader in = Files.newBufferedReader(file);
          CSVParser parser = format.parse(in)) {
        rows = parser.getRecords();
      }
    }

    @Override
    public Record get(NDManager manager, long index) {
      CSVRecord row = rows.get(Math.toIntExact(index));
      float start = Float.parseFloat(row.get("c0")) + Float.parseFloat(row.get(1));
      return record(manager, start, index);
    }
  }

  /** A link of a chain. */
  private static final class Link {
    final Link next;
    final float value;

    Link(Link next, float value) {
      this.next = next;
      this.value = value;
    }
  }

  /** Deeply nested settings. */
  static final class Deep extends DjlSamples.Counting {
    private final Link first;

    Deep(DjlSamples.Builder builder, int length) {
      super(builder);
      Link link = null;
      for (int i = 0; i < length; i++) {
        link = new Link(link, i);
      }
      first = link;
    }

    @Override
    public Record get(NDManager manager, long index) {
      float sum = index;
      for (Link link = first; link != null; link = link.next) {
        sum += link.value;
      }
      return record(manager, sum, index);
    }
  }

  /** Counts its calls, though its samples are always the same. */
  static class Tallying extends DjlSamples.Counting {
    final int[] calls;

    Tallying(DjlSamples.Builder builder) {
      super(builder);
      calls = new int[Math.toIntExact(availableSize())];
    }

    @Override
    public Record get(NDManager manager, long index) {
      int sample = Math.toIntExact(index);
      calls[sample]++;
      return record(manager, 1f + sample, index);
    }
  }

  /** One sample of the second epoch has another label. */
  static final class Slipping extends Tallying {
    private static final int SLIPS = 7;

    Slipping(DjlSamples.Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager manager, long index) {
      Record record = super.get(manager, index);
      if (index == SLIPS && calls[SLIPS] == 2) {
        record.getLabels().head().addi(1);
      }
      return record;
    }
  }

  /** Has a setting that other code changes during an epoch. */
  static final class Knob extends DjlSamples.Counting {
    float level = 1;

    Knob(DjlSamples.Builder builder) {
      super(builder);
    }

    @Override
    public Record get(NDManager manager, long index) {
      return record(manager, index + level, index);
    }
  }
}
