package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.Producers;
import io.coordl.bridge.SpanSink;
import io.coordl.coordination.PreparedBatch;
import io.coordl.items.FileState;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import io.coordl.store.DecodedStore;
import io.coordl.store.KeptForms;
import io.coordl.store.Outcome;
import io.coordl.store.PreparedStore;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Caching with a minimal library whose samples are arrays of bytes. */
class PreparedSamplesTest {
  private static final PurityAnalyzer.Known NOTHING =
      new PurityAnalyzer.Known() {
        @Override
        public boolean isClosed(Class<?> type) {
          return false;
        }

        @Override
        public boolean isKnown(String owner, String method) {
          return false;
        }

        @Override
        public boolean isAnnounced(String method, String descriptor) {
          return method.equals("prepare");
        }
      };

  private record Comparing(boolean comparesFields) implements PurityAnalyzer.Known {
    @Override
    public boolean isClosed(Class<?> type) {
      return false;
    }

    @Override
    public boolean isKnown(String owner, String method) {
      return false;
    }
  }

  /** A data set with a setting that any code may change. */
  @SuppressWarnings("UnusedMethod") // The proof reads the methods in the class file.
  private static final class Settable {
    int add;

    byte[] get(int index) {
      return new byte[] {(byte) (index + add)};
    }
  }

  /** The program's data set. */
  private static final class Numbers {
    private final List<Integer> numbers;

    Numbers(List<Integer> numbers) {
      this.numbers = List.copyOf(numbers);
    }

    byte[] get(int index) {
      return new byte[] {numbers.get(index).byteValue()};
    }
  }

  /** A data set that counts its calls. */
  private static final class Counting implements Callable<byte[]> {
    private int count;

    @Override
    public byte[] call() {
      count++;
      return new byte[] {(byte) count};
    }
  }

  /** A transform of the program. */
  private static final class Doubled {
    private final int times;

    Doubled(int times) {
      this.times = times;
    }

    byte[] of(byte[] sample) {
      byte[] all = new byte[times * sample.length];
      for (int i = 0; i < all.length; i++) {
        all[i] = sample[i % sample.length];
      }
      return all;
    }
  }

  /** Makes one sample as the library would. */
  private class Maker implements SampleMaker<byte[]> {
    private final byte number;

    Maker(int number) {
      this.number = (byte) number;
    }

    @Override
    public byte[] get() throws Exception {
      calls.add("get " + number);
      return new byte[] {number};
    }

    @Override
    public byte[] transform(int stage, byte[] sample) {
      calls.add("transform " + stage);
      return new Doubled(2).of(sample);
    }

    @Override
    public PreparedBatch bytes(byte[] sample, List<BatchLayout.Array> files) {
      List<BatchLayout.Array> arrays = new ArrayList<>();
      arrays.add(
          new BatchLayout.Array("data", "byte", "", List.of((long) sample.length), sample.length));
      arrays.addAll(files);
      BatchLayout layout = new BatchLayout(arrays);
      return new PreparedBatch() {
        @Override
        public long bytes() {
          return layout.bytes();
        }

        @Override
        public void writeTo(ByteBuffer target) {
          layout.writeTo(target);
          layout.values(target, 0).put(sample);
        }
      };
    }

    @Override
    public byte[] read(BatchLayout layout, ByteBuffer bytes) {
      byte[] sample = new byte[Math.toIntExact(layout.arrays().get(0).bytes())];
      layout.values(bytes, 0).get(sample);
      return sample;
    }
  }

  private final class Data implements LibraryEpoch {
    private final Object dataset;
    private final List<Object> transforms;
    private final String text;

    Data(Object dataset, String text, Object... transforms) {
      this.dataset = dataset;
      this.text = text;
      this.transforms = List.of(transforms);
    }

    @Override
    public Object dataset() {
      return dataset;
    }

    @Override
    public String name() {
      return dataset.getClass().getName();
    }

    @Override
    public long size() {
      return size;
    }

    @Override
    public Object settings() {
      return transforms;
    }

    @Override
    public boolean isCurrent(Object settings) {
      return settings.equals(transforms);
    }

    @Override
    public List<List<Object>> stages(Object settings) {
      List<List<Object>> stages = new ArrayList<>();
      stages.add(Collections.singletonList(dataset));
      transforms.forEach(transform -> stages.add(Collections.singletonList(transform)));
      return stages;
    }

    @Override
    public String describe(Object settings, int stage) throws CannotShareException {
      if (text.isEmpty()) {
        throw new CannotShareException("it");
      }
      return text + stage;
    }

    @Override
    public String describe(String name, Object value) {
      return name + value;
    }
  }

  /** Size in bytes of a sample that is larger than its item. */
  private static final int LONG = 50_000;

  @TempDir Path directory;
  private final List<String> calls = new ArrayList<>();
  private final List<String> said = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private final List<String> chosen = new ArrayList<>();
  private final Numbers numbers = equal();
  private long size = 3;
  private boolean keeps = true;
  private ArenaStore arena;
  private PreparedStore store;
  private PreparedSamples samples;

  @BeforeEach
  void open() {
    Bridge.install(
        SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where + cause));
    arena = ArenaStore.openProcess(directory, ByteBudget.parse("2m"), said::add);
    store = new PreparedStore(arena, new KeptForms());
    samples = job(Set.of());
  }

  /** Returns an analyzer that knows no library. */
  static PurityAnalyzer analyzer() {
    return new PurityAnalyzer("no.library.", NOTHING);
  }

  private PreparedSamples job(Set<String> trusted) {
    return job(prepared(trusted));
  }

  private Prepared prepared(Set<String> trusted) {
    return new Prepared(
        store,
        store.ofItems(path -> false, () -> keeps),
        trusted,
        () -> keeps,
        () -> 10,
        (what, why) -> chosen.add(what + ": " + why));
  }

  private PreparedSamples job(Prepared prepared) {
    return new PreparedSamples(
        Services.builder(said::add).prepared(prepared).build(),
        new PurityAnalyzer("no.library.", NOTHING, prepared::trusts));
  }

  @AfterEach
  void close() {
    store.close();
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    assertThat(faults).isEmpty();
  }

  private byte[] sample(PreparedSamples of, LibraryEpoch data, int index, int number)
      throws Exception {
    return of.sample(of.plan(data), index, new Maker(number));
  }

  private PreparedSamples comparing() {
    return new PreparedSamples(
        Services.builder(said::add).prepared(prepared(Set.of())).build(),
        new PurityAnalyzer("no.library.", new Comparing(true)));
  }

  @Test
  void fieldSetDuringAnEpochMakesOtherSamples() throws Exception {
    PreparedSamples job = comparing();
    Settable data = new Settable();

    assertThat(sample(job, new Data(data, "add 0"), 1, 7)).containsExactly(7);
    assertThat(sample(job, new Data(data, "add 0"), 1, 8)).containsExactly(7);
    data.add = 1;
    assertThat(sample(job, new Data(data, "add 1"), 1, 9)).containsExactly(9);
    data.add = 0;
    assertThat(sample(job, new Data(data, "add 0"), 1, 10)).containsExactly(7);
  }

  @Test
  void fieldSetBetweenTwoSamplesOfABatchIsSeen() throws Exception {
    PreparedSamples job = comparing();
    Settable data = new Settable();
    Data pipeline = new Data(data, "add 0");
    sample(job, pipeline, 1, 7);
    PreparedSamples.Plan plan = job.plan(pipeline);

    assertThat(job.sample(plan, 1, new Maker(8))).containsExactly(7);
    data.add = 1;
    assertThat(job.sample(plan, 1, new Maker(9))).containsExactly(9);
    assertThat(job.sample(plan, 2, new Maker(9))).containsExactly(9);
    data.add = 0;
    assertThat(job.sample(plan, 2, new Maker(10))).as("not kept").containsExactly(10);
  }

  /** The object that one stage passes to the next. */
  private record Tagged(Settable setting) {}

  /** A stage that returns an object whose field only the next stage reads. */
  @SuppressWarnings("UnusedMethod") // The proof reads the methods in the class file.
  private static final class Tagging {
    private final Settable setting = new Settable();

    Tagged get() {
      return new Tagged(setting);
    }
  }

  @SuppressWarnings("UnusedMethod") // The proof reads the methods in the class file.
  private static final class LooksInto {
    byte[] of(Tagged tagged) {
      return new byte[] {(byte) tagged.setting.add};
    }
  }

  @Test
  void changeOfAFieldThatOnlyALaterStageReadsIsSeen() throws Exception {
    PreparedSamples job = comparing();
    Tagging data = new Tagging();
    Data pipeline = new Data(data, "tags", new LooksInto());
    PreparedSamples.Plan plan = job.plan(pipeline);

    assertThat(job.plan(pipeline)).isSameAs(plan);
    data.setting.add = 1;
    assertThat(job.plan(pipeline)).isNotSameAs(plan);
  }

  /** A transform that only happens to have a method named {@code prepare}. */
  @SuppressWarnings("UnusedMethod") // The proof reads the methods in the class file.
  private static final class Prepares {
    private final List<Integer> more = new ArrayList<>();

    byte[] of(byte[] sample) {
      return new byte[] {(byte) (sample[0] + more.size())};
    }

    void prepare() {
      more.add(1);
    }
  }

  @Test
  void preparedTransformIsCheckedAgain() {
    Prepares transform = new Prepares();
    Data pipeline = new Data(numbers, "numbers", transform);
    PreparedSamples.Plan plan = samples.plan(pipeline);

    samples.changed();
    assertThat(samples.plan(pipeline)).isSameAs(plan);
    transform.prepare();
    samples.changed();
    assertThat(samples.plan(pipeline)).isNotSameAs(plan);
  }

  @Test
  void sampleIsMadeOnce() throws Exception {
    Data data = new Data(numbers, "numbers", new Doubled(2));
    assertThat(sample(samples, data, 0, 5)).containsExactly(5, 5);
    assertThat(sample(samples, data, 1, 6)).containsExactly(6, 6);
    assertThat(calls).containsExactly("get 5", "transform 1", "get 6", "transform 1");
    assertThat(sample(samples, data, 0, 100)).containsExactly(5, 5);
    assertThat(sample(samples, data, 1, 100)).containsExactly(6, 6);
    assertThat(calls).hasSize(4);
    assertThat(store.statistics().of(Outcome.HIT)).isEqualTo(2);
    assertThat(store.statistics().of(Outcome.ADMITTED))
        .isEqualTo(3); // The choice of the stage is stored there, too.
    assertThat(said).isEmpty();
  }

  /** Reads and decodes an item for each sample. */
  private final class OfItems extends Maker {
    private final DecodedStore decoded;
    private final Path file;

    OfItems(DecodedStore decoded, Path file) {
      super(1);
      this.decoded = decoded;
      this.file = file;
    }

    @Override
    public byte[] get() throws Exception {
      DecodedItem item = decoded.item(file.toString());
      item.addProducingTime(1_000_000_000);
      item.put(DecodedForm.of("library 1"), 1000, target -> target.put(new byte[1000]));
      return new byte[LONG];
    }
  }

  private long keptDecoded(int samplesInAll) throws Exception {
    return keptDecoded(new Data(numbers, "n"), samplesInAll);
  }

  private long keptDecoded(Data data, int samplesInAll) throws Exception {
    size = samplesInAll;
    try (DecodedStore decoded = new DecodedStore(arena, path -> true, store.forms(), () -> true)) {
      for (int i = 0; i < 20; i++) {
        PreparedSamples.Plan plan = samples.plan(data);
        Maker maker = new OfItems(decoded, Files.createTempFile(directory, "item", ""));
        if (plan == null) {
          maker.get();
        } else {
          samples.sample(plan, i, maker);
        }
      }
      return decoded.statistics().items();
    }
  }

  @Test
  void itemsOfPreparedSamplesAreNotCachedAsWell() throws Exception {
    assertThat(keptDecoded(20)).isEqualTo(1); // Of the sample that led to the choice.
    assertThat(chosen).singleElement().asString().contains("(stage 1 of 1): all samples fit");
  }

  /** For example, training and validation data may have the same class. */
  @Test
  void theFormOfDataSetsOfOneClassIsReportedOnce() throws Exception {
    assertThat(keptDecoded(new Data(numbers, "training"), 20)).isEqualTo(1);
    assertThat(keptDecoded(new Data(numbers, "validation"), 20)).isEqualTo(1);
    assertThat(chosen).hasSize(1);
  }

  @Test
  void samplesAreNotKeptIfTheirItemsSaveMore() throws Exception {
    assertThat(keptDecoded(1000)).isEqualTo(20);
    assertThat(samples.plan(new Data(numbers, "n"))).isNull();
    assertThat(chosen).isEmpty();
    assertThat(said)
        .singleElement()
        .asString()
        .contains("caching its items saves more (1 MiB saves ");
  }

  @Test
  void jobsShareSamplesOfEqualDataSets() throws Exception {
    assertThat(sample(samples, new Data(numbers, "numbers"), 0, 5)).containsExactly(5);
    PreparedSamples other = job(Set.of());
    assertThat(sample(other, new Data(equal(), "numbers"), 0, 100)).containsExactly(5);
    assertThat(sample(other, new Data(equal(), "others"), 0, 100)).containsExactly(100);
    assertThat(sample(other, new Data(equal(), ""), 0, 101)).containsExactly(101);
    assertThat(said).as("no other job could use these samples").isEmpty();
  }

  @Test
  void samplesThatOtherJobsCannotUseAreReported() throws Exception {
    arena.close();
    arena =
        ArenaStore.openHost(
            Files.createDirectory(directory.resolve("host")),
            "group",
            ByteBudget.parse("2m"),
            said::add);
    store = new PreparedStore(arena, new KeptForms());
    assertThat(sample(job(Set.of()), new Data(numbers, ""), 0, 5)).containsExactly(5);
    assertThat(said)
        .containsExactly("samples are cached for this job alone: prepared=share cannot share it.");
  }

  private static Numbers equal() {
    return new Numbers(List.of(5, 6, 7));
  }

  @Test
  void anotherTransformMakesAnotherSample() throws Exception {
    assertThat(sample(samples, new Data(numbers, "n"), 0, 5)).containsExactly(5);
    assertThat(sample(samples, new Data(numbers, "n", new Doubled(2)), 0, 6)).containsExactly(6, 6);
    assertThat(calls).containsExactly("get 5", "get 6", "transform 1");
  }

  @Test
  void changedDataSetIsCheckedAgain() throws Exception {
    Holder holder = new Holder(new Numbers(List.of(1)));
    Data data = new Data(holder, "h");
    assertThat(sample(samples, data, 0, 1)).containsExactly(1);
    PreparedSamples.Plan plan = samples.plan(data);
    samples.changed();
    assertThat(samples.plan(data)).isSameAs(plan);
    holder.prepare(new Numbers(List.of(2)));
    samples.changed();
    assertThat(samples.plan(data)).isNotSameAs(plan);
  }

  /** Has a field that changes only in {@code prepare}, whose calls are announced. */
  private static final class Holder implements Callable<byte[]> {
    private Numbers numbers;

    Holder(Numbers numbers) {
      this.numbers = numbers;
    }

    void prepare(Numbers now) {
      numbers = now;
    }

    @Override
    public byte[] call() {
      return numbers.get(0);
    }
  }

  /** Checking a transform takes longer than making a sample. */
  @Test
  void transformThatIsNewForEachSampleIsLeftAlone() throws Exception {
    int times = 0;
    while (samples.plan(new Data(numbers, "n", new Doubled(2))) != null) {
      sample(samples, new Data(numbers, "n", new Doubled(2)), 0, 5);
      times++;
    }
    assertThat(times).isEqualTo(4); // Each iteration makes two plans.
    assertThat(said).singleElement().asString().contains("change with each sample");
    for (int i = 0; i < 20; i++) {
      sample(samples, new Data(equal(), "n"), i % 2, 5); // A new data set, which equals the others.
    }
    assertThat(said).hasSize(1);
  }

  @Test
  void statefulDataSetIsLeftAloneAndNamedOnce() throws Exception {
    Counting counting = new Counting();
    for (int i = 0; i < 5; i++) {
      assertThat(samples.plan(new Data(counting, "c"))).isNull();
      assertThat(samples.plan(new Data(new Counting(), "c"))).isNull();
      samples.changed();
    }
    assertThat(said)
        .singleElement()
        .asString()
        .contains("Counting to the program: ", "call sets its field count.");
  }

  @Test
  void nullSampleIsPassedOnAndNotKept() throws Exception {
    Data data = new Data(numbers, "n", new Doubled(2));
    Maker none =
        new Maker(0) {
          @Override
          public byte[] get() {
            calls.add("none");
            return null;
          }
        };
    assertThat(samples.sample(samples.plan(data), 0, none)).isNull();
    assertThat(sample(samples, data, 1, 1)).containsExactly(1, 1); // The stage is chosen.
    assertThat(samples.sample(samples.plan(data), 0, none)).isNull();
    assertThat(calls.stream().filter("none"::equals)).hasSize(2);
  }

  @Test
  void userMayVouchForAClass() throws Exception {
    PreparedSamples trusting = job(Set.of(Counting.class.getName()));
    Data data = new Data(new Counting(), "c");
    assertThat(sample(trusting, data, 0, 1)).containsExactly(1);
    assertThat(sample(trusting, data, 0, 2)).containsExactly(1);
    // The results of declared classes are not shared with other jobs.
    assertThat(sample(job(Set.of(Counting.class.getName())), data, 0, 3)).containsExactly(3);
  }

  @Test
  void statefulStageEndsTheKeptPart() throws Exception {
    PreparedSamples.Plan plan =
        samples.plan(new Data(numbers, "n", new Doubled(2), new Counting(), new Doubled(2)));
    assertThat(plan.kept()).isEqualTo(2);
  }

  @Test
  void stagesBeforeTheFirstDrawAreKept() throws Exception {
    ForkableRandom random = new ForkableRandom(3);
    Data data = new Data(numbers, "n", new Doubled(2));
    for (int i = 0; i < 3; i++) {
      for (int index = 0; index < 3; index++) {
        int number = index;
        byte[] sample =
            samples.sample(
                samples.plan(data),
                index,
                new Maker(number) {
                  @Override
                  public byte[] transform(int stage, byte[] from) {
                    super.transform(stage, from);
                    return new byte[] {from[0], (byte) random.nextInt()};
                  }
                });
        assertThat(sample[0]).isEqualTo((byte) index);
      }
    }
    assertThat(calls).filteredOn("transform 1"::equals).hasSize(9);
    assertThat(calls).filteredOn(call -> call.startsWith("get")).hasSize(3);
    ForkableRandom alone = new ForkableRandom(3);
    for (int i = 0; i < 9; i++) {
      alone.nextInt();
    }
    assertThat(random.nextInt()).isEqualTo(alone.nextInt());
  }

  @Test
  void secondGaussianOfAPairIsADrawToo() throws Exception {
    ForkableRandom random = new ForkableRandom(3);
    Data data = new Data(numbers, "n");
    for (int i = 0; i < 6; i++) {
      samples.sample(
          samples.plan(data),
          0,
          new Maker(i) {
            @Override
            public byte[] get() throws Exception {
              super.get();
              return new byte[] {(byte) (100 * random.nextGaussian())};
            }
          });
    }
    assertThat(calls).hasSize(6);
  }

  /** Waits until any further change of the file would be visible in its times. */
  private static Path settle(Path file) {
    while (!FileState.of(file.toString()).isSettled()) {
      Thread.onSpinWait();
    }
    return file;
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void samplesOfFilesGeneratedByTheKernelAreNotKept() throws Exception {
    Data data = new Data(numbers, "n");
    for (int i = 0; i < 3; i++) {
      samples.sample(samples.plan(data), 0, new Reading(Path.of("/proc/self/stat")));
      samples.sample(samples.plan(data), 1, new Reading(Path.of("/sys/kernel/uevent_seqnum")));
    }
    assertThat(calls).hasSize(6);
  }

  /** A relative name denotes another file for a job in another directory. */
  @Test
  void fileKeepsTheNameThatTheProgramUsed() throws Exception {
    OpenedFiles files = new OpenedFiles();
    files.accept("pom.xml");
    assertThat(files.parts()).singleElement().extracting("name").isEqualTo("pom.xml");
  }

  /** A file within an archive has no path, for example, so its changes would go unnoticed. */
  @Test
  void filesWithoutAPathMayHaveChanged() throws Exception {
    OpenedFiles files = new OpenedFiles();
    files.accept(settle(Files.write(directory.resolve("item"), new byte[] {1})).toString());
    files.accept(directory.resolve("missing").toString());
    assertThat(files.areUnchanged()).isTrue();
    files.accept(Producers.UNKNOWN);
    assertThat(files.areKnown()).isFalse();
    assertThat(files.areUnchanged()).isFalse();
    assertThat(files.parts()).isNull();
  }

  @Test
  void changedFileIsReadAgain() throws Exception {
    Path file = Files.write(directory.resolve("item"), new byte[] {1});
    Data data = new Data(numbers, "n");
    for (int round = 1; round <= 3; round++) {
      byte[] content = {(byte) round};
      Files.write(file, content);
      Files.setLastModifiedTime(file, FileTime.fromMillis(1_000L * round));
      settle(file);
      for (int i = 0; i < 2; i++) {
        assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(round);
      }
    }
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));
    Files.write(file, new byte[] {9, 9});
    assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(9, 9);
    // The first version stays cached; later versions are read at each request.
    assertThat(calls).hasSize(1 + 2 + 2 + 1);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void sampleStaysIfOnlyTheChangeTimeOfItsFileDiffers() throws Exception {
    Path file = settle(Files.write(directory.resolve("item"), new byte[] {1}));
    Data data = new Data(numbers, "n");
    assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(1);
    for (int change = 1; change <= 2; change++) {
      Files.createLink(directory.resolve("link" + change), file);
      settle(file);
      for (int i = 0; i < 3; i++) {
        assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(1);
      }
      assertThat(calls).as("once for each change").hasSize(1 + change);
    }
    FileTime time = Files.getLastModifiedTime(file);
    Files.write(file, new byte[] {2});
    Files.setLastModifiedTime(file, time);
    settle(file);
    for (int i = 0; i < 2; i++) {
      assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(2);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void rewriteThatKeepsTheModificationTimeMakesAnotherSample() throws Exception {
    Path file = settle(Files.write(directory.resolve("item"), new byte[] {1}));
    Data data = new Data(numbers, "n");
    assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(1);
    FileTime time = Files.getLastModifiedTime(file);
    Files.write(file, new byte[] {2});
    Files.setLastModifiedTime(file, time);
    settle(file);
    for (int i = 0; i < 3; i++) {
      assertThat(samples.sample(samples.plan(data), 0, new Reading(file))).containsExactly(2);
    }
    assertThat(calls).as("read once more").hasSize(2);
  }

  /**
   * The stamp stands for the files that the key names, such as a table. If they change but the
   * sample does not, the cached sample stays.
   */
  @Test
  void equalSampleStaysUnderAnotherStamp() throws Exception {
    Data data = new Data(numbers, "n");
    long[][] requests = {{1, 5}, {1, 5}, {2, 5}, {2, 5}, {3, 6}, {3, 6}, {1, 7}, {2, 7}};
    List<Integer> found = new ArrayList<>();
    for (long[] one : requests) {
      PreparedSamples.Plan plan = samples.plan(data);
      found.add((int) samples.sample(plan, 0, one[0], new Maker((int) one[1]))[0]);
    }
    assertThat(found).containsExactly(5, 5, 5, 5, 6, 6, 5, 5);
    assertThat(calls).containsExactly("get 5", "get 5", "get 6");
  }

  /** A sample whose values are on a device. */
  private final class OnDevice extends Maker {
    private final List<Keeping> later;

    OnDevice(int number, List<Keeping> later) {
      super(number);
      this.later = later;
    }

    @Override
    public boolean readsValuesLater() {
      return true;
    }

    @Override
    public void readLater(PreparedBatch unread, Keeping keeping) {
      later.add(keeping);
    }

    @Override
    public PreparedBatch bytes(byte[] sample, List<BatchLayout.Array> files) {
      PreparedBatch bytes = super.bytes(sample, files);
      return new PreparedBatch() {
        @Override
        public long bytes() {
          return bytes.bytes();
        }

        @Override
        public void writeTo(ByteBuffer target) {
          calls.add("read " + sample[0]);
          bytes.writeTo(target);
        }
      };
    }
  }

  @Test
  void valuesOnADeviceAreNotReadSampleBySample() throws Exception {
    Data data = new Data(numbers, "n");
    List<SampleMaker.Keeping> later = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      samples.sample(samples.plan(data), i, new OnDevice(i, later));
    }
    // The first one is measured.
    assertThat(calls).containsExactly("get 0", "read 0", "get 1", "get 2");
    for (int i = 1; i < 3; i++) {
      later.get(i - 1).keep(new Maker(0).bytes(new byte[] {(byte) (10 * i)}, List.of()), 0);
      byte[] found = samples.sample(samples.plan(data), i, new OnDevice(9, later));
      assertThat(found).containsExactly(10 * i);
    }
    assertThat(calls).hasSize(4);
    assertThat(later).hasSize(2);
  }

  @Test
  void listenerHearsTheFilesOfAKeptSample() throws Exception {
    Path file = settle(Files.write(directory.resolve("item"), new byte[] {1}));
    Data data = new Data(numbers, "n");
    List<String> heard = new ArrayList<>();
    Producers.listen(heard::add);
    for (int i = 0; i < 2; i++) {
      samples.sample(samples.plan(data), 0, new Reading(file));
    }
    Producers.listen(null);
    assertThat(heard).containsExactly(file.toString(), file.toString());
    assertThat(calls).hasSize(1);
  }

  private final class Reading extends Maker {
    private final Path file;

    Reading(Path file) {
      super(0);
      this.file = file;
    }

    @Override
    public byte[] get() throws IOException {
      calls.add("read");
      Producers.opens(file.toString());
      return Files.readAllBytes(file);
    }
  }

  @Test
  void exceptionsOfTheProgramReachItUnchanged() throws Exception {
    Data data = new Data(numbers, "n");
    assertThat(sample(samples, data, 0, 5)).containsExactly(5);
    for (Throwable thrown :
        List.of(new IOException("a"), new IllegalStateException("b"), new LinkageError("c"))) {
      calls.clear();
      for (int i = 1; i <= 2; i++) {
        assertThatThrownBy(
                () ->
                    samples.sample(
                        samples.plan(data),
                        1,
                        new Maker(1) {
                          @Override
                          public byte[] get() throws Exception {
                            super.get();
                            if (thrown instanceof Error error) {
                              throw error;
                            }
                            throw (Exception) thrown;
                          }
                        }))
            .isSameAs(thrown);
        assertThat(calls).hasSize(i);
      }
    }
    assertThat(sample(samples, data, 1, 6)).containsExactly(6);
    assertThat(sample(samples, data, 1, 7)).containsExactly(6);
  }

  @Test
  void faultOfTheAgentLeavesTheSampleToTheProgram() throws Exception {
    Data data = new Data(numbers, "n", new Doubled(2));
    byte[] sample =
        samples.sample(
            samples.plan(data),
            0,
            new Maker(5) {
              @Override
              public PreparedBatch bytes(byte[] made, List<BatchLayout.Array> files) {
                throw new UnsupportedOperationException("ours");
              }
            });
    assertThat(sample).containsExactly(5, 5);
    assertThat(calls).containsExactly("get 5", "transform 1");
    assertThat(faults).singleElement().asString().contains("keeping a prepared sample", "ours");
    faults.clear();
  }

  @Test
  void samplesOfDifferentLengthsAreKept() throws Exception {
    Data data = new Data(numbers, "n");
    for (int round = 0; round < 3; round++) {
      for (int index = 0; index < 6; index++) {
        int length = 1 + 100 * index;
        byte[] made =
            samples.sample(
                samples.plan(data),
                index,
                new Maker(index) {
                  @Override
                  public byte[] get() throws Exception {
                    super.get();
                    byte[] bytes = new byte[length];
                    Arrays.fill(bytes, (byte) length);
                    return bytes;
                  }
                });
        assertThat(made).hasSize(length).containsOnly((byte) length);
      }
    }
    // A sample may not be kept if the store expected it to be as long as the first.
    assertThat(calls).hasSizeBetween(6, 8);
  }

  @Test
  void ifNotAllSamplesFitTheStageThatSavesMostIsKept() throws Exception {
    size = 1_000_000; // They need 64 bytes or more each; the arena has 2 MiB.
    Data data = new Data(numbers, "n", new Doubled(2));
    for (int index = 0; index < 40; index++) {
      int number = index;
      samples.sample(
          samples.plan(data),
          index,
          new Maker(number) {
            @Override
            public byte[] transform(int stage, byte[] sample) {
              super.transform(stage, sample);
              return new byte[40_000];
            }
          });
    }
    assertThat(calls).hasSize(80);
    calls.clear();
    // Keeping 40 KB saves almost no time, so stage 0 is kept, and its results transformed again.
    for (int index = 20; index < 40; index++) {
      sample(samples, data, index, 100);
    }
    assertThat(calls).hasSize(20).containsOnly("transform 1");
  }

  @Test
  void firstJobChoosesTheStage() throws Exception {
    Data data = new Data(numbers, "n", new Doubled(2));
    sample(samples, data, 0, 5);
    size = 1_000_000; // With this size, the second job would choose no stage.
    assertThat(sample(job(Set.of()), data, 0, 100)).containsExactly(5, 5);
    assertThat(calls).hasSize(2);
  }

  @Test
  void batchIsMadeOfItsSamplesIfAllAreKept() throws Exception {
    Data data = new Data(numbers, "n");
    for (int index = 0; index < 2; index++) {
      sample(samples, data, index, index);
    }
    PreparedSamples.Plan plan = samples.plan(data);
    assertThat(samples.<List<PreparedSamples.Kept>>batch(plan, List.of(1L, 0L), kept -> kept))
        .extracting(kept -> kept.layout().values(kept.bytes(), 0).get(0))
        .containsExactly((byte) 1, (byte) 0);
    assertThat(samples.<List<PreparedSamples.Kept>>batch(plan, List.of(1L, 2L), kept -> kept))
        .isNull();
    assertThat(store.statistics().of(Outcome.HIT)).isEqualTo(2);
  }

  @Test
  void samplesQuickerToMakeThanToFindAreLeftAlone() throws Exception {
    Data data = new Data(numbers, "n");
    SampleMaker<byte[]> slow =
        new Maker(1) {
          @Override
          public byte[] read(BatchLayout layout, ByteBuffer bytes) {
            LockSupport.parkNanos(200_000);
            return super.read(layout, bytes);
          }
        };
    size = 1_000_000; // No sample is requested twice before the verdict.
    int kept = 0;
    while (samples.plan(data) != null) {
      samples.sample(samples.plan(data), kept++, slow);
    }
    assertThat(kept).isLessThan(2_100);
    assertThat(said).anyMatch(line -> line.contains("caching would not pay off; a sample takes "));
  }

  /** Plans do not keep data sets from being garbage-collected. */
  @Test
  void droppedDataSetsAreCollected() throws Exception {
    List<WeakReference<Object>> dropped = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      size = 3L + i; // Many data sets of one size, each with one sample, would be left alone.
      Numbers one = equal();
      assertThat(sample(samples, new Data(one, "n"), i % 3, 5)).containsExactly(5);
      dropped.add(new WeakReference<>(one));
    }
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
    while (dropped.stream().anyMatch(one -> one.get() != null)) {
      assertThat(System.nanoTime() - end)
          .as("%s of 40 are kept", dropped.stream().filter(one -> one.get() != null).count())
          .isNegative();
      System.gc();
      Thread.onSpinWait();
    }
  }

  @Test
  void itemsOfKeptSamplesAreSpared() throws Exception {
    Data data = new Data(numbers, "n");
    Prepared prepared = prepared(Set.of());
    PreparedSamples own = job(prepared);
    assertThat(prepared.sparesItems(numbers, 1)).isTrue(); // The data set is not known yet.
    sample(own, data, 0, 5);
    assertThat(prepared.sparesItems(numbers, 1)).isTrue();
    Counting counting = new Counting();
    own.plan(new Data(counting, "c"));
    assertThat(prepared.sparesItems(counting, 1)).isFalse(); // The data set is left alone.
    keeps = false;
    assertThat(prepared.sparesItems(numbers, 1)).isFalse();
  }

  /** As if the program iterated over the data set without an intercepted call. */
  @Test
  void itemsOfAnUnseenDataSetAreSparedOnlyAtFirst() {
    long spared = 0;
    Prepared prepared = prepared(Set.of());
    job(prepared);
    for (int i = 0; i < 1_000; i++) {
      spared += prepared.sparesItems(numbers, i) ? 1 : 0;
    }
    assertThat(spared).isEqualTo(1 + ItemPrefetcher.WINDOW);
  }
}
