package io.coordl.pipeline;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.Producers;
import io.coordl.coordination.PreparedBatch;
import io.coordl.items.ItemKey;
import io.coordl.purity.FieldValues;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.store.KeptForms;
import io.coordl.store.Loader;
import io.coordl.store.PreparedStore;
import io.coordl.store.Rates;
import io.coordl.telemetry.advice.Text;
import io.coordl.telemetry.advice.Text.Bytes;
import io.coordl.telemetry.log.OnceLog;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * {@code prepared=share}: runs the deterministic part of a pipeline once per sample and caches the
 * result. Every later call gets new arrays with the same bits.
 *
 * <p><b>The same sample.</b> {@link PurityAnalyzer} proves that a stage reads nothing that changes
 * and has no side effects, or the user declares this for a class. The stage may draw from the
 * library's generator, but a sample is cached only if nothing was drawn while it was prepared: code
 * that did not draw will not draw for the same sample and state. So the generator has the same
 * state as without the agent. The states of the opened files are stored with the sample, which is
 * prepared again if one of them changes.
 *
 * <p>A field that the program may set is an input of the sample: its value is part of the sample's
 * key. It is compared before each batch, and before each sample if other code of the program runs
 * between samples. The stages themselves set nothing.
 *
 * <p><b>Sharing.</b> The key of a sample covers everything that determines it: data set,
 * transforms, code, library. So all jobs of the arena share the sample, in any order and batch
 * size. A sample that cannot be compared between processes is cached for this process alone.
 *
 * <p><b>Which stage.</b> If all samples fit, they are cached after the last stage whose result can
 * be cached; otherwise after the stage that saves the most time in the available memory. If the raw
 * or decoded items save more in that memory, samples are not cached. If samples are cached, their
 * items are not cached as well. The first job of the arena decides for all.
 *
 * <p>Thread-safe.
 */
public final class PreparedSamples {
  /** Key part of a marker: the sample is unchanged, although its files' change times differ. */
  private static final long CONFIRMED = 1;

  /** Key part of a sample that was prepared again and differs; both versions are cached. */
  private static final long REWRITTEN = 2;

  /** Identifies samples of code that iterates over sets or maps in the order of this process. */
  private static final UUID PROCESS = UUID.randomUUID();

  /** If not all samples fit, this many are measured before a stage is chosen. */
  private static final int MEASURED = 16;

  /** After this many rejected data sets of a class, later ones are not examined. */
  private static final int MAX_REJECTED = 3;

  /**
   * After this many consecutive plans that served at most one sample each, examining pipelines does
   * not pay off.
   */
  private static final int MAX_FLEETING = 8;

  private final Prepared prepared;
  private final PreparedStore store;
  private final PurityAnalyzer code;
  private final OnceLog log;
  private final List<Plan> plans = new ArrayList<>();
  private final List<Unexamined> unexamined = new ArrayList<>();
  private volatile @Nullable Boolean cachesNone;
  private final AtomicLong generation = new AtomicLong();

  /** Number of rejected data sets, by class. */
  private final Map<String, Integer> rejected = new HashMap<>();

  /**
   * Keyed by class, size and number of stages, so that a data set that is created again is
   * recognised.
   */
  private final Worths worths = new Worths();

  public PreparedSamples(Services services, PurityAnalyzer code) {
    this.prepared = Objects.requireNonNull(services.prepared());
    this.store = prepared.store;
    this.code = code;
    this.log = new OnceLog(services.log());
    prepared.addUser(this);
    ForkableRandom.countDraws();
  }

  /** Returns the message that samples are not cached, and why. */
  public static String leavesMessage(String what, String reason) {
    return "prepared=share leaves " + what + " to the program: " + reason + ".";
  }

  /**
   * Like the other {@code leavesMessage}, for a library whose samples are batches.
   *
   * @param keepsItems whether the items of the batches are cached instead
   */
  static String leavesMessage(String what, boolean keepsItems, String reason) {
    return keepsItems
        ? "prepared=share caches no batches of " + what + ", only its images: " + reason + "."
        : leavesMessage(what, reason);
  }

  /** Called before and after a data set is prepared, because that may change its samples. */
  public void changed() {
    generation.incrementAndGet();
  }

  /** Whether to cache samples now, if possible. */
  public boolean areKept() {
    return prepared.keeps.getAsBoolean();
  }

  /**
   * Whether no samples of the data sets seen so far are cached; null if none was seen. Takes no
   * lock.
   */
  @Nullable Boolean cachesNone() {
    return cachesNone;
  }

  /**
   * Records a data set without a plan.
   *
   * @param leaves whether its samples cannot be cached
   */
  void recordUnplanned(boolean leaves) {
    if (cachesNone == null || !leaves) {
      cachesNone = leaves;
    }
  }

  /** A data set without a batch so far, and how many samples were requested after the first. */
  private static final class Unexamined extends WeakReference<Object> {
    private int requested;

    Unexamined(Object dataset) {
      super(dataset);
    }
  }

  /**
   * Whether a sample's items need not be cached, because the sample itself is cached, or will be
   * once it is prepared. For the first samples of a data set this is assumed, because their items
   * are requested before the data set is examined, which happens at the first batch.
   */
  synchronized boolean sparesItems(Object dataset, long index) {
    for (Plan plan : plans) {
      if (plan.refersTo(dataset)) {
        return !plan.isLeftToProgram() && (plan.sparesItems || isKept(plan, index));
      }
    }
    unexamined.removeIf(one -> one.refersTo(null));
    for (Unexamined one : unexamined) {
      if (one.refersTo(dataset)) {
        return ++one.requested <= ItemPrefetcher.WINDOW;
      }
    }
    unexamined.add(new Unexamined(dataset));
    return true;
  }

  /** Returns how the samples of a pipeline are cached; null if they are not. */
  public @Nullable Plan plan(LibraryEpoch pipeline) {
    if (!areKept()) {
      return null;
    }
    long start = System.nanoTime();
    Plan plan = current(pipeline);
    if (plan.isLeftToProgram()) {
      if (!Boolean.TRUE.equals(cachesNone)) {
        updateCachesNone();
      }
      return null;
    }
    cachesNone = false;
    plan.checked(System.nanoTime() - start);
    return plan;
  }

  private synchronized void updateCachesNone() {
    cachesNone = plans.stream().allMatch(Plan::isLeftToProgram);
  }

  /** Called when the next sample of a data set is the first of an epoch. */
  public synchronized void begun(Object dataset) {
    for (Plan plan : plans) {
      if (plan.refersTo(dataset)) {
        plan.begins = true;
      }
    }
  }

  private synchronized Plan current(LibraryEpoch pipeline) {
    Object dataset = pipeline.dataset();
    int fleeting = 0;
    plans.removeIf(plan -> plan.refersTo(null));
    for (Plan plan : plans) {
      if (plan.refersTo(dataset)) {
        if (plan.isOf(pipeline)) {
          return plan;
        }
        plans.remove(plan);
        fleeting = plan.samples > 1 ? 0 : plan.fleeting + 1;
        break;
      }
    }
    Plan plan = examine(pipeline);
    plan.fleeting = fleeting;
    if (fleeting == MAX_FLEETING) {
      plan.leave("its transforms, settings or fields change with each sample");
    }
    plans.add(plan);
    return plan;
  }

  private Plan examine(LibraryEpoch pipeline) {
    long now = generation.get();
    List<String> names = new ArrayList<>();
    String type = pipeline.name();
    if (rejected.getOrDefault(type, 0) >= MAX_REJECTED) {
      return new Plan(pipeline, "", now, List.of(), names, worth(pipeline, 0));
    }
    Object settings = pipeline.settings();
    List<List<@Nullable Object>> stages = pipeline.stages(settings);
    List<ObjectSnapshot> snapshots = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    List<FieldValues> values = new ArrayList<>();
    if (stages.isEmpty()) {
      log.once(leavesMessage(type, "it keeps objects whose changes would go unnoticed"));
    }
    List<@Nullable Object> all = new ArrayList<>();
    for (List<@Nullable Object> objects : stages) {
      all.addAll(objects); // A stage may read what the previous one returns.
      // Taken before the proof, so that changes by other threads during the proof are noticed.
      List<ObjectSnapshot> before =
          pipeline.isAnnounced()
              ? present(List.of(objects))
                  .map(object -> new ObjectSnapshot(object, code::counts))
                  .toList()
              : List.of();
      PurityAnalyzer.Proof proof = code.prove(all);
      if (proof.reason() != null) {
        if (names.isEmpty()) {
          log.once(leavesMessage(type, proof.reason()));
          rejected.merge(type, 1, Integer::sum);
        }
        break;
      }
      if (!proof.values().isEmpty()) {
        values.add(proof.values());
      }
      snapshots.addAll(before);
      describe(pipeline, settings, names.size(), proof, text);
      names.add(text.toString());
    }
    // From here on, nothing refers to objects that may refer to the data set.
    Worth worth = worth(pipeline, names.size());
    Plan plan = new Plan(pipeline, names.isEmpty() ? "" : settings, now, snapshots, names, worth);
    plan.values.addAll(values);
    plan.comparesEach = names.size() < stages.size() || pipeline.runsOtherCode(settings);
    return plan;
  }

  private static Stream<Object> present(List<List<@Nullable Object>> stages) {
    return stages.stream().<@Nullable Object>flatMap(List::stream).filter(Objects::nonNull);
  }

  private Worth worth(LibraryEpoch pipeline, int stages) {
    Worth own = pipeline.worth();
    if (own != null) {
      return own;
    }
    String name = pipeline.name(); // The name outlives the pipeline.
    return worths.of(
        name + " " + pipeline.size() + " " + stages,
        () ->
            new Worth(
                "sample",
                prepared.epochs,
                System::nanoTime,
                why -> log.once(leavesMessage("samples of " + name, why))));
  }

  /** Appends everything that determines a stage's behaviour. */
  private void describe(
      LibraryEpoch pipeline,
      Object settings,
      int stage,
      PurityAnalyzer.Proof proof,
      StringBuilder text) {
    try {
      if (proof.trusts()) {
        throw new CannotShareException("the results of classes declared with share:CLASS");
      }
      text.append(pipeline.describe(settings, stage)).append('\n').append(proof.code());
      if (proof.ordersByProcess()) {
        text.append("of ").append(PROCESS).append('\n');
      }
      for (Map.Entry<String, @Nullable Object> field : proof.statics().entrySet()) {
        text.append(field.getKey()).append('=');
        text.append(pipeline.describe(field.getKey(), field.getValue())).append('\n');
      }
    } catch (CannotShareException e) {
      if (store.isShared()) {
        // Does not begin with the policy's name: messages that begin with it say why nothing is
        // cached.
        log.once(
            Text.format(
                "samples are cached for this job alone: prepared=share cannot share %s.",
                e.getMessage()));
      }
      text.append(UUID.randomUUID());
    }
  }

  /**
   * Returns a sample after all stages of the plan; null if the program's own code returns null.
   *
   * @throws Exception if the program's code throws
   */
  public <S> @Nullable S sample(Plan plan, long index, SampleMaker<S> maker) throws Exception {
    return sample(plan, index, plan.stamp, maker);
  }

  /**
   * Like the other {@code sample}, for a sample with its own stamp.
   *
   * @param stamp stamp of this sample, as {@link LibraryEpoch#stamp}
   */
  public <S> @Nullable S sample(Plan plan, long index, long stamp, SampleMaker<S> maker)
      throws Exception {
    return sample(new Making<>(plan, index, stamp, plan.kept(), maker));
  }

  /** Like {@link #sample}, but returns the sample after stage 0; see {@link Plan#keepsFirst}. */
  public <S> @Nullable S first(Plan plan, long index, SampleMaker<S> maker) throws Exception {
    return sample(new Making<>(plan, index, plan.stamp, 1, maker));
  }

  private static <S> @Nullable S sample(PreparedSamples.Making<S> making) throws Exception {
    Plan plan = making.plan;
    plan.samples = Math.min(plan.samples + 1, 2);
    return plan.comparesEach && !plan.haveSameValues() ? making.rest() : making.sample();
  }

  /** Returns the index of a sample that a string identifies. */
  public static long index(String name) {
    return ItemKey.of(name, 0, 0, ItemKey.WHOLE).low() & Long.MAX_VALUE;
  }

  /** The layout and bytes of a cached sample; the bytes must not be modified. */
  public record Kept(BatchLayout layout, ByteBuffer bytes) {}

  public interface BatchMaker<B> {
    /**
     * Returns null if the batch cannot be created from all samples together; they are then read one
     * by one.
     */
    @Nullable B make(List<Kept> samples) throws IOException;
  }

  /**
   * Returns a batch whose samples are all cached after their last stage; null if one is missing, or
   * if {@code maker} returns null.
   */
  public <B> @Nullable B batch(Plan plan, List<Long> indices, BatchMaker<B> maker)
      throws IOException {
    long start = System.nanoTime();
    List<Kept> samples = all(plan, indices);
    B batch = samples.isEmpty() ? null : maker.make(samples);
    if (batch != null) {
      plan.samples = 2;
      store.used(samples.size(), samples.stream().mapToLong(one -> one.bytes.remaining()).sum());
      plan.worth.found(System.nanoTime() - start, samples.size());
    }
    return batch;
  }

  /**
   * Creates a batch as {@link #batch} does and discards it, only to measure the time.
   *
   * @param indices samples that have just been prepared
   * @param stackNanos nanoseconds that the library needed to stack them
   */
  public void probe(
      Plan plan, List<Long> indices, long stackNanos, BatchMaker<? extends AutoCloseable> maker)
      throws Exception {
    plan.worth.batched(stackNanos, indices.size());
    if (plan.worth.probes()) {
      long start = System.nanoTime();
      List<Kept> samples = all(plan, indices);
      AutoCloseable batch = samples.isEmpty() ? null : maker.make(samples);
      if (batch != null) {
        batch.close();
        plan.worth.probed(System.nanoTime() - start, samples.size());
      }
    }
  }

  /**
   * Returns the cached results of these samples after their last stage; empty if any is missing.
   */
  private List<Kept> all(Plan plan, List<Long> indices) throws IOException {
    int stage = plan.stage;
    if (stage < 0 || stage != plan.names.size() - 1) {
      return List.of();
    }
    List<Kept> samples = new ArrayList<>(indices.size());
    for (Long index : indices) {
      BatchLayout likely = samples.isEmpty() ? null : samples.get(0).layout;
      Kept found = find(plan.key(stage, index), plan.stamp, likely);
      if (found == null) {
        return List.of();
      }
      samples.add(found);
    }
    return samples;
  }

  /**
   * Returns the samples of a batch that are not cached, each once. Empty if there are more than
   * {@code max}, or if samples are not cached after their last stage: later stages of the cached
   * ones may draw random numbers.
   */
  public List<Long> missing(Plan plan, List<Long> indices, int max) throws IOException {
    int stage = plan.stage;
    Set<Long> missing = new LinkedHashSet<>();
    if (stage >= 0 && stage == plan.names.size() - 1) {
      for (Long index : indices) {
        if (find(plan.key(stage, index), plan.stamp, plan.likely) == null
            && missing.add(index)
            && missing.size() > max) {
          return List.of();
        }
      }
    }
    return List.copyOf(missing);
  }

  /**
   * Returns the cached bytes of a sample; null if there are none, or its files may have changed.
   *
   * @param likely the expected layout
   */
  private @Nullable Kept find(ItemKey key, long stamp, @Nullable BatchLayout likely)
      throws IOException {
    Kept first = read(key, likely);
    if (first == null) {
      return null;
    }
    Long changes = OpenedFiles.changes(first.layout, stamp, Producers::opens);
    if (changes == null) {
      return null;
    }
    if (changes == 0 || store.find(key.with(changes, CONFIRMED)) != null) {
      return first;
    }
    Kept later = read(key.with(changes, REWRITTEN), likely);
    return later != null && isOf(later.layout, stamp) ? later : null;
  }

  private @Nullable Kept read(ItemKey key, @Nullable BatchLayout likely) throws IOException {
    ByteBuffer found = store.find(key);
    if (found == null) {
      return null;
    }
    ByteBuffer bytes = found.order(ByteOrder.nativeOrder());
    return new Kept(BatchLayout.read(bytes, likely), bytes);
  }

  private static boolean isOf(BatchLayout layout, long stamp) {
    Long changes = OpenedFiles.changes(layout, stamp, path -> {});
    return changes != null && changes == 0;
  }

  /** Whether a sample is cached whose files now differ only in their change times. */
  private boolean isLikeKept(ItemKey key, long stamp) throws IOException {
    Kept kept = read(key, null);
    Long changes = kept == null ? null : OpenedFiles.changes(kept.layout, stamp, path -> {});
    return changes != null && changes != 0;
  }

  /**
   * Compares a newly prepared sample with the cached one. Records that they are equal, or caches
   * the new one, too.
   *
   * @return whether this call cached the new one
   */
  private boolean confirm(ItemKey key, PreparedBatch made) throws IOException {
    Kept kept = read(key, null);
    if (kept == null) {
      return false;
    }
    byte[] bytes = new byte[Math.toIntExact(made.bytes())];
    Making.write(made, bytes, 0);
    ByteBuffer now = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    BatchLayout layout = BatchLayout.read(now);
    // Compares the files that were read, which may have been replaced by now.
    Long changes = OpenedFiles.changes(kept.layout, layout);
    if (changes == null || changes == 0) {
      return false;
    }
    if (OpenedFiles.isSame(kept.bytes, now)) {
      store.keep(key.with(changes, CONFIRMED), 0, (target, offset) -> true);
      return false;
    }
    return store.keep(
        key.with(changes, REWRITTEN),
        bytes.length,
        (target, offset) -> {
          System.arraycopy(bytes, 0, target, offset, bytes.length);
          return true;
        });
  }

  /** Whether a sample is cached after the chosen stage. */
  public boolean isKept(Plan plan, long index) {
    int stage = plan.stage;
    return stage >= 0 && store.find(plan.key(stage, index)) != null;
  }

  /** The plan for caching the samples of one data set. */
  public final class Plan extends WeakReference<Object> {
    private final String name;
    private final boolean keepsItems;
    private final Object settings;

    /** Snapshots of its stages' objects, if {@link LibraryEpoch#isAnnounced}. */
    private final List<ObjectSnapshot> snapshots;

    /** Field values that the proofs of the stages rely on. */
    private final List<FieldValues> values = new ArrayList<>();

    /** Whether unproven code may run between two samples of a batch. */
    private boolean comparesEach;

    /** The generation at which the pipeline was last known to be unchanged. */
    private volatile long generation;

    private final long size;
    private final long stamp;
    private final List<ItemKey> names = new ArrayList<>();
    private final List<String> highHalves = new ArrayList<>();

    /** The stage after which samples are cached; -1 until it is chosen. */
    private volatile int stage = -1;

    /** Size in bytes of each cached sample; 0 if there is none, -1 if sizes differ. */
    private volatile int length;

    /** Size in bytes of the shortest sample so far; 0 if there is none. */
    private volatile int shortest;

    /** The layout of the sample that was found last. */
    private volatile @Nullable BatchLayout likely;

    /** Whether items need not be cached, because every sample so far could be. */
    private volatile boolean sparesItems = true;

    /** Whether no more samples are cached. */
    private volatile boolean stopped;

    /** Number of samples requested, counted up to 2; concurrent requests may count as one. */
    private volatile int samples;

    /** Size in bytes of the largest sample that was made, cached or not. */
    private volatile long largest;

    /** Number of consecutive earlier plans that served at most one sample each. */
    private int fleeting;

    private final List<long[]> nanosOfStages = new ArrayList<>();
    private final List<long[]> bytesOfStages = new ArrayList<>();

    /** Measurements of all items of the measured samples. */
    private final List<Rates> items = new ArrayList<>();

    private final Worth worth;

    /**
     * Whether an epoch has begun, the objects were compared, or the plan was created, since the
     * last {@link #checked(long)}.
     */
    private volatile boolean begins;

    private Plan(
        LibraryEpoch pipeline,
        Object settings,
        long generation,
        List<ObjectSnapshot> snapshots,
        List<String> texts,
        Worth worth) {
      super(pipeline.dataset());
      this.worth = worth;
      this.name = pipeline.name();
      this.keepsItems = pipeline.keepsItems();
      this.settings = settings;
      this.snapshots = snapshots;
      this.generation = generation;
      this.size = Math.max(1, pipeline.size());
      this.stamp = pipeline.stamp();
      this.begins = pipeline.worth() == null; // Else the owner of the account begins it.
      for (String text : texts) {
        ItemKey name = ItemKey.of(text, 0, 0, ItemKey.WHOLE);
        names.add(name);
        highHalves.add(Long.toHexString(name.high()));
      }
      if (!texts.isEmpty()) {
        findDecision();
      }
    }

    /** Whether this plan still fits the pipeline. A rejected data set stays rejected. */
    private boolean isOf(LibraryEpoch pipeline) {
      if (isLeftToProgram()) {
        return true;
      }
      long now = PreparedSamples.this.generation.get();
      if (generation != now && !snapshots.isEmpty() && matchesSnapshots(pipeline)) {
        generation = now;
        begins = true;
      }
      return generation == now && pipeline.isCurrent(settings) && haveSameValues();
    }

    private boolean matchesSnapshots(LibraryEpoch pipeline) {
      List<Object> objects = present(pipeline.stages(settings).subList(0, names.size())).toList();
      return objects.size() == snapshots.size()
          && IntStream.range(0, objects.size())
              .allMatch(i -> snapshots.get(i).isOf(objects.get(i)));
    }

    private boolean haveSameValues() {
      for (FieldValues stageValues : values) {
        if (!stageValues.areSame()) {
          return false;
        }
      }
      return true;
    }

    private boolean isLeftToProgram() {
      return stopped || names.isEmpty() || !worth.paysOff();
    }

    private void checked(long nanos) {
      if (begins) {
        begins = false;
        worth.begun(nanos, size);
      } else {
        worth.checked(nanos);
      }
    }

    /** Returns the number of proven stages that {@link #sample} runs, at least one. */
    public int kept() {
      return names.size();
    }

    /** Whether samples are cached after stage 0, so that later stages run each time. */
    public boolean keepsFirst() {
      return stage == 0;
    }

    /** Returns the settings for which the stages were proven. */
    public Object settings() {
      return settings;
    }

    private ItemKey key(int stage, long index) {
      return ItemKey.of(highHalves.get(stage), names.get(stage).low(), index, stage);
    }

    private ItemKey decision() {
      return key(names.size() - 1, Long.MIN_VALUE); // No sampler yields this index.
    }

    private void findDecision() {
      ByteBuffer found = store.find(decision());
      if (found != null && found.remaining() == 1 && found.get(0) < names.size()) {
        stage = found.get(0);
      }
    }

    /** Publishes the choice; the first job's choice applies to all. */
    private void decide(int chosen) throws IOException {
      store.keep(
          decision(),
          1,
          (target, offset) -> {
            target[offset] = (byte) chosen;
            return true;
          });
      findDecision();
      if (stage < 0) {
        stage = chosen;
      }
    }

    /**
     * Records, for each stage of a sample, the total time up to its end and the size of its result;
     * a negative size means that the sample cannot be cached after that stage.
     *
     * @param last last stage after which it can be cached; -1 if there is none
     */
    private synchronized void measured(long[] nanos, long[] bytes, int last, List<Rates> parts)
        throws IOException {
      if (stage >= 0 || stopped) {
        return;
      }
      nanosOfStages.add(nanos);
      bytesOfStages.add(bytes);
      items.addAll(parts);
      if (last >= 0 && bytes[last] <= store.room() / size) {
        decide(last);
        chosen("all samples fit", "");
      } else if (nanosOfStages.size() == MEASURED) {
        decideByMemory();
      }
    }

    private void decideByMemory() throws IOException {
      double best = 0;
      int chosen = -1;
      for (int i = 0; i < names.size(); i++) {
        int at = i;
        if (bytesOfStages.stream().allMatch(bytes -> bytes[at] >= 0)) {
          double saved = saved(mean(bytesOfStages, at), mean(nanosOfStages, at));
          if (saved > best) {
            best = saved;
            chosen = i;
          }
        }
      }
      Rates rates = items();
      double ofItems =
          Math.max(
              saved(rates.rawBytes(), rates.readNanos()),
              saved(rates.decodedBytes(), rates.savedByDecoded()));
      if (chosen < 0) {
        leave(
            largest > PreparedStore.MAX_BYTES
                ? Text.format(
                    "its largest sample or batch takes %s, more than the limit of %s",
                    new Bytes(largest), new Bytes(PreparedStore.MAX_BYTES))
                : "its samples are random, contain more than arrays of numbers, depend on missing,"
                    + " mapped or special files, or are made on a device and not simply stacked"
                    + " into batches");
      } else if (ofItems > best) {
        leave(
            "in the available memory, caching its items saves more (" + perMebibyte(chosen) + ")");
      } else {
        decide(chosen);
        chosen("not all samples fit", ": " + perMebibyte(stage));
      }
    }

    /**
     * Returns the average time saved per sample if caching one takes this many bytes and saves this
     * many nanoseconds.
     */
    private double saved(long bytes, long nanos) {
      return bytes <= 0 ? 0 : Math.min(1, (double) store.room() / bytes / size) * nanos;
    }

    private static long mean(List<long[]> samples, int stage) {
      return Math.round(samples.stream().mapToLong(stages -> stages[stage]).average().orElse(0));
    }

    /** Returns the measurements of the items of an average sample. */
    private Rates items() {
      return Rates.sum(items).by(Math.max(1, nanosOfStages.size()));
    }

    private void chosen(String why, String more) {
      prepared.choose(
          "samples of " + name + " are kept prepared (stage " + (stage + 1) + " of " + kept() + ")",
          why + more);
    }

    /** Describes the saving per mebibyte in each form. */
    private String perMebibyte(int stage) {
      Rates rates = items();
      return Text.format(
          "1 MiB saves %.1f ms as prepared samples, %.1f as decoded items, %.1f as files",
          perMebibyte(mean(bytesOfStages, stage), mean(nanosOfStages, stage)),
          perMebibyte(rates.decodedBytes(), rates.savedByDecoded()),
          perMebibyte(rates.rawBytes(), rates.readNanos()));
    }

    private static double perMebibyte(long bytes, long nanos) {
      return bytes <= 0 ? 0 : nanos / 1e6 / bytes * (1 << 20);
    }

    private void leave(String why) {
      stopped = true;
      log.once(leavesMessage(name, keepsItems, why));
    }
  }

  /** One request for a sample, which finds the sample, or prepares and caches it. */
  private final class Making<S> {
    private final Plan plan;
    private final long index;
    private final long stamp;
    private final SampleMaker<S> maker;
    private final OpenedFiles files = new OpenedFiles();
    private @Nullable S made;
    private int stages;

    /** Number of stages after which the sample is returned. */
    private final int wanted;

    /** Whether to cache the sample that is being prepared. */
    private boolean isKept;

    /** Nanoseconds that the program's code needed to prepare the sample to be cached. */
    private long making;

    private final List<Rates> parts = new ArrayList<>();
    private @Nullable Throwable thrown;

    Making(Plan plan, long index, long stamp, int wanted, SampleMaker<S> maker) {
      this.plan = plan;
      this.index = index;
      this.stamp = stamp;
      this.wanted = wanted;
      this.maker = maker;
    }

    @Nullable S sample() throws Exception {
      try {
        if (plan.stage >= 0) {
          findOrKeep();
        } else {
          measure();
        }
      } catch (Exception | Error e) {
        if (thrown instanceof Error error) {
          throw error;
        } else if (thrown instanceof Exception exception) {
          throw exception;
        }
        Bridge.fault("keeping a prepared sample", e);
      }
      return rest();
    }

    /** Runs the remaining stages, or all of them if no result was found. */
    @Nullable S rest() throws Exception {
      while (stages < wanted) {
        next();
      }
      return made;
    }

    private void next() throws Exception {
      Consumer<String> outer = Producers.listener();
      Producers.listen(
          path -> {
            files.accept(path);
            if (outer != null) {
              outer.accept(path);
            }
          });
      KeptForms.Preparing part = store.forms().begin(isKept && plan.sparesItems);
      try {
        S before = made;
        if (stages == 0) {
          made = maker.get();
        } else if (before != null) {
          made = maker.transform(stages, before);
        }
        stages++;
      } catch (Exception | Error e) {
        thrown = e;
        throw e;
      } finally {
        Producers.listen(outer);
        store.forms().end(part);
        parts.add(part.items());
      }
    }

    private void findOrKeep() throws Exception {
      long start = System.nanoTime();
      int stage = plan.stage;
      ItemKey key = plan.key(stage, index);
      if (find(key, stage, start)) {
        return;
      }
      boolean isAdmitted = false;
      int length = plan.length;
      if (maker.readsValuesLater()) {
        PreparedBatch unread = make(stage);
        if (unread != null) {
          maker.readLater(unread, (bytes, nanos) -> keepLater(key, bytes, nanos));
        }
      } else if (isLikeKept(key, stamp)) {
        PreparedBatch bytes = make(stage);
        isAdmitted = bytes != null && confirm(key, bytes);
      } else if (length > 0 && store.hasRoom(length)) {
        // Another job that needs the same sample waits for it.
        isAdmitted =
            store.keep(key, length, (target, offset) -> makeInto(target, offset, length, stage));
        if (stages == 0 && thrown == null) {
          find(key, stage, System.nanoTime());
        }
      } else if (length <= 0 && store.hasRoom(plan.shortest)) {
        PreparedBatch bytes = make(stage);
        isAdmitted = bytes != null && put(key, bytes);
      }
      if (making > 0) {
        plan.worth.made(making);
      }
      if (isAdmitted) {
        plan.worth.kept(System.nanoTime() - start - making);
        if (maker.isProbed() && plan.worth.probes()) {
          probe(key);
        }
      }
    }

    private boolean put(ItemKey key, PreparedBatch bytes) throws IOException {
      int length = Math.toIntExact(bytes.bytes());
      return put(key, length, (target, offset) -> write(bytes, target, offset));
    }

    private void keepLater(ItemKey key, PreparedBatch bytes, long nanos) throws IOException {
      long start = System.nanoTime();
      if (isLikeKept(key, stamp) ? confirm(key, bytes) : put(key, bytes)) {
        plan.worth.kept(System.nanoTime() - start + nanos);
      }
    }

    private void probe(ItemKey key) throws IOException {
      long start = System.nanoTime();
      Kept found = PreparedSamples.this.find(key, stamp, plan.likely);
      if (found != null) {
        plan.likely = found.layout;
        maker.probe(found.layout, found.bytes);
        plan.worth.probed(System.nanoTime() - start, 1);
      }
    }

    private boolean find(ItemKey key, int stage, long start) throws IOException {
      Kept found = PreparedSamples.this.find(key, stamp, plan.likely);
      if (found == null) {
        return false;
      }
      plan.likely = found.layout;
      made = maker.read(found.layout, found.bytes);
      stages = stage + 1;
      store.used(1, found.bytes.remaining());
      plan.worth.found(System.nanoTime() - start, 1);
      return true;
    }

    /** Runs the stages up to the cached one; returns null if the result cannot be cached. */
    private @Nullable PreparedBatch make(int stage) throws Exception {
      long draws = ForkableRandom.draws();
      long start = System.nanoTime();
      isKept = true;
      while (stages <= stage) {
        next();
      }
      isKept = false;
      making = System.nanoTime() - start;
      PreparedBatch bytes = ForkableRandom.draws() == draws ? bytes() : null;
      if (bytes == null) {
        plan.sparesItems = false;
        store.countUncacheable();
      }
      return bytes;
    }

    private @Nullable PreparedBatch bytes() {
      List<BatchLayout.Array> opened = files.parts();
      if (opened != null && stamp != 0) {
        opened.add(OpenedFiles.stamp(stamp));
      }
      S sample = made;
      PreparedBatch bytes =
          opened == null
                  || sample == null
                  || files.haveOne(store::skips)
                  || plan.generation != generation.get()
              ? null
              : maker.bytes(sample, opened);
      if (bytes == null) {
        return null;
      }
      plan.largest = Math.max(plan.largest, bytes.bytes());
      return bytes.bytes() > PreparedStore.MAX_BYTES || !files.areUnchanged() ? null : bytes;
    }

    private boolean makeInto(byte[] target, int offset, int length, int stage) throws IOException {
      try {
        PreparedBatch bytes = make(stage);
        if (bytes == null) {
          return false;
        }
        if (bytes.bytes() != length) {
          plan.length = -1; // From now on each sample is cached after it is prepared.
          return false;
        }
        return write(bytes, target, offset);
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IOException(e); // The program's exception, which the program gets.
      }
    }

    private static boolean write(PreparedBatch bytes, byte[] target, int offset) {
      bytes.writeTo(
          ByteBuffer.wrap(target, offset, Math.toIntExact(bytes.bytes()))
              .slice()
              .order(ByteOrder.nativeOrder()));
      return true;
    }

    /** Caches a finished result; returns whether this call cached it. */
    private boolean put(ItemKey key, int length, Loader copy) throws IOException {
      plan.shortest = plan.shortest == 0 ? length : Math.min(plan.shortest, length);
      if (plan.length == 0) {
        plan.length = length;
      }
      boolean isAdmitted = store.keep(key, length, copy);
      if (!store.hasRoom(length)) {
        plan.sparesItems = false;
      }
      return isAdmitted;
    }

    /** Runs and measures all stages; caches the last cacheable result if its stage is chosen. */
    private void measure() throws Exception {
      int count = plan.names.size();
      long[] nanos = new long[count];
      long[] bytes = new long[count];
      byte[] last = {};
      int lastStage = -1;
      long draws = ForkableRandom.draws();
      long total = 0;
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        next();
        total += System.nanoTime() - start;
        nanos[i] = total;
        PreparedBatch here = ForkableRandom.draws() == draws ? bytes() : null;
        bytes[i] = here == null ? -1 : here.bytes();
        if (here != null) {
          last = new byte[Math.toIntExact(here.bytes())];
          write(here, last, 0);
          lastStage = i;
        }
      }
      plan.measured(nanos, bytes, lastStage, parts);
      if (lastStage >= 0 && plan.stage == lastStage) {
        byte[] kept = last;
        put(
            plan.key(lastStage, index),
            kept.length,
            (target, offset) -> {
              System.arraycopy(kept, 0, target, offset, kept.length);
              return true;
            });
      }
    }
  }
}
