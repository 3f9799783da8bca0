package io.coordl.reports.recording;

import io.coordl.reports.recording.TimeLine.Part;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import org.jspecify.annotations.Nullable;

/**
 * Adds frequent events up, in a bounded amount of memory: about 60 MB at most, if a quarter of a
 * million long file names are to be told apart. Confined to one thread, but for {@link #fetches}.
 */
final class ActivityCollector implements FrequentEvents {
  static final int FILES = 1 << 18;
  static final int CLASSES = 1 << 10;
  static final int SHOWN = 20;

  private final TimeLine times = new TimeLine();
  private final Fetches fetches = new Fetches();
  private final NameTotals codecs = new NameTotals(CLASSES, SHOWN);
  private final NameTotals transforms = new NameTotals(CLASSES, SHOWN);
  private final Map<String, long[]> sources = new HashMap<>();
  private long accepted;

  @Override
  public void accept(
      FrequentType type, long start, long duration, long[] numbers, @Nullable RecordedText text) {
    if (type == FrequentType.FETCH) {
      fetches.accept(type, start, duration, numbers, text);
      return;
    }
    accepted++;
    switch (type) {
      case DATA_STALL -> {
        times.add(Part.FETCH_STALL, numbers[0], start, duration);
        times.add(Part.PREP_STALL, numbers[1], start, duration);
        times.add(Part.GC_STALL, numbers[2], start, duration);
        times.add(Part.QUEUE_STALL, numbers[3], start, duration);
      }
      case STEP -> {
        times.add(Part.COMPUTE, numbers[0], start, duration);
        times.add(Part.CHECKPOINT, numbers[1], start, duration);
      }
      case BATCH -> addBatch(duration, numbers, text == null ? "(unknown)" : text.toString());
      case FETCH -> throw new AssertionError(type);
      case DECODE -> codecs.add(text, duration, 0, 0);
      case TRANSFORM -> transforms.add(text, duration, 0, 0);
    }
  }

  /**
   * Classes of a program are few; should they not be, the last stands for those that come later.
   */
  private void addBatch(long duration, long[] numbers, String name) {
    String key = sources.size() < CLASSES || sources.containsKey(name) ? name : "(others)";
    long[] sums = sources.computeIfAbsent(key, unseen -> new long[numbers.length + 2]);
    for (int i = 0; i < numbers.length; i++) {
      sums[i] += numbers[i];
    }
    sums[numbers.length] += duration;
    sums[numbers.length + 1]++;
  }

  /** How many events were added up. */
  long accepted() {
    return accepted + fetches.accepted;
  }

  /**
   * Takes those of {@link FrequentType#FETCH}, if another thread is to: they cost as much as all
   * others, as there are so many files.
   */
  FrequentEvents fetches() {
    return fetches;
  }

  private static final class Fetches implements FrequentEvents {
    private final NameTotals files = new NameTotals(FILES, SHOWN);
    private long accepted;

    @Override
    public void accept(
        FrequentType type, long start, long duration, long[] numbers, @Nullable RecordedText text) {
      accepted++;
      files.add(text, numbers[0], numbers[1], numbers[2]);
    }
  }

  /** Takes the events from the JDK's parser. */
  void subscribe(EventStream stream) {
    subscribe(stream, this);
  }

  static void subscribe(EventStream stream, FrequentEvents events) {
    for (FrequentType type : FrequentType.values()) {
      stream.onEvent(type.event(), event -> read(type, event, events));
    }
  }

  private static void read(FrequentType type, RecordedEvent event, FrequentEvents events) {
    List<String> fields = new ArrayList<>(type.numbers());
    if (type.text() != null) {
      fields.add(type.text());
    }
    for (String field : fields) {
      if (!event.hasField(field)) {
        throw new EventReader.MissingFieldException(type.event(), field);
      }
    }
    long[] numbers = new long[type.numbers().size()];
    for (int i = 0; i < numbers.length; i++) {
      Object value = event.getValue(type.numbers().get(i));
      numbers[i] = value instanceof Boolean flag ? (flag ? 1 : 0) : ((Number) value).longValue();
    }
    String text = type.text() == null ? null : event.getString(type.text());
    events.accept(
        type,
        ChronoUnit.NANOS.between(Instant.EPOCH, event.getStartTime()),
        event.getDuration().toNanos(),
        numbers,
        text == null ? null : RecordedText.of(text));
  }

  Activity activity() {
    List<Activity.Source> all = new ArrayList<>();
    sources.forEach(
        (name, sums) ->
            all.add(
                new Activity.Source(
                    name, sums[6], sums[4], sums[5], sums[0], sums[1], sums[2], sums[3])));
    all.sort(
        Comparator.comparingLong(Activity.Source::wallNanos)
            .reversed()
            .thenComparing(Activity.Source::name));
    return new Activity(
        times.times(),
        fetches.files.names(),
        codecs.names(),
        transforms.names(),
        all.stream().limit(SHOWN).toList());
  }
}
