package io.coordl.library.djl;

import ai.djl.BaseModel;
import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.norm.Dropout;
import ai.djl.training.Trainer;
import ai.djl.training.listener.EvaluatorTrainingListener;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import io.coordl.checkpoint.Resume;
import io.coordl.pipeline.LibraryField;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A trainer whose model and optimizer are restored to their state after a step of an earlier job.
 * Its earlier epochs and evaluations are empty, and its listeners are not called for them. In the
 * epoch of that step, the used batches are skipped. Used by the training thread.
 */
final class ResumedTrainer {
  private static final int VERSION = 3;
  private static final String LISTENERS = "ai.djl.training.listener.";

  /**
   * The progress of a trainer.
   *
   * @param reason why the job cannot be resumed from here; empty if it can
   * @param several whether batches are taken alternately from several data sets
   * @param nested whether epochs lie within others
   * @param left whether an epoch ended early
   * @param steps number of the trainer's steps
   */
  record Progress(String reason, boolean several, boolean nested, boolean left, long steps) {}

  /** The fields of the library that this class needs, looked up once. */
  static final class Access {
    private final OptimizerState optimizer = new OptimizerState();
    private final LibraryField<Object> array = LibraryField.of(Parameter.class, "array");
    private final LibraryField<Object> listeners = LibraryField.of(Trainer.class, "listeners");
    private final LibraryField<Object> lambda = LibraryField.of(LambdaBlock.class, "lambda");
    private final Method readParameters;

    Access() throws ReflectiveOperationException {
      readParameters = BaseModel.class.getDeclaredMethod("readParameters", Path.class, Map.class);
      readParameters.setAccessible(true);
    }

    private List<?> listeners(Trainer trainer) {
      return listeners.get(trainer) instanceof List<?> all ? all : List.of();
    }
  }

  private final Resume resume;
  private final Path checkpoint;
  private final @Nullable ForkableRandom random;
  private final Progress progress;
  private final int epoch;
  private final int dataset;
  private final int count;
  private final int taken;
  private final long order;

  /** States of DJL's random generator before the epoch's order was drawn, and at the checkpoint. */
  private final byte[] randomBefore;

  private final byte[] randomNow;
  private final List<Counts> counts = new ArrayList<>();

  /** Losses and accuracies of the last finished epoch, by name. */
  private final Map<String, Float> evaluations = new TreeMap<>();

  private ResumedTrainer(
      Resume resume, Path checkpoint, @Nullable ForkableRandom random, DataInputStream in)
      throws IOException {
    this.resume = resume;
    this.checkpoint = checkpoint;
    this.random = random;
    if (in.readInt() != VERSION) {
      throw new IOException(
          "the checkpoint was written by another version of the agent, or for another library");
    }
    progress =
        new Progress(
            in.readUTF(), in.readBoolean(), in.readBoolean(), in.readBoolean(), in.readLong());
    epoch = in.readInt();
    dataset = in.readInt();
    count = in.readInt();
    taken = in.readInt();
    order = in.readLong();
    randomBefore = in.readNBytes(in.readInt());
    randomNow = in.readNBytes(in.readInt());
    for (int left = in.readInt(); left > 0; left--) {
      counts.add(Counts.read(in));
    }
    for (int left = in.readInt(); left > 0; left--) {
      evaluations.put(in.readUTF(), in.readFloat());
    }
  }

  /** Writes the state that a model's file lacks; the last batch is from {@code epoch}. */
  static void write(
      DataOutputStream out,
      Access access,
      Trainer trainer,
      Progress progress,
      @Nullable DataEpoch epoch,
      @Nullable ForkableRandom random)
      throws IOException {
    out.writeInt(VERSION);
    out.writeUTF(
        epoch == null ? "the job took no batch from Trainer.iterateDataset" : progress.reason);
    out.writeBoolean(progress.several);
    out.writeBoolean(progress.nested);
    out.writeBoolean(progress.left);
    out.writeLong(progress.steps);
    (epoch == null ? new DataEpoch(trainer, -1, -1, -1, null) : epoch).write(out);
    byte[] now = DataEpoch.bytes(random);
    out.writeInt(now.length);
    out.write(now);
    List<?> listeners = access.listeners(trainer);
    out.writeInt(listeners.size());
    for (Object listener : listeners) {
      Counts.of(listener).write(out);
    }
    Map<String, Float> measured = new TreeMap<>();
    evaluations(listeners).forEach(measured::putAll);
    out.writeInt(measured.size());
    for (Map.Entry<String, Float> one : measured.entrySet()) {
      out.writeUTF(one.getKey());
      out.writeFloat(one.getValue());
    }
    access.optimizer.write(out, trainer);
  }

  /** Restores a trainer; returns null if there is no checkpoint, or after logging a failure. */
  static @Nullable ResumedTrainer of(
      Trainer trainer, Access access, Resume resume, @Nullable ForkableRandom random) {
    Path checkpoint = trainer.getModel() instanceof BaseModel ? resume.take() : null;
    if (checkpoint == null) {
      return null;
    }
    try (DataInputStream in = Resume.open(checkpoint)) {
      ResumedTrainer resumed = new ResumedTrainer(resume, checkpoint, random, in);
      String reason =
          resumed.progress.reason.isEmpty()
              ? restore(trainer, access, checkpoint)
              : resumed.progress.reason;
      if (reason != null) {
        resume.fail(reason);
        return null;
      }
      resume.begin(resumed.progress.steps);
      // A program may request the evaluations after each epoch, including skipped ones.
      evaluations(access.listeners(trainer)).forEach(all -> all.putAll(resumed.evaluations));
      String optimizer = reason(() -> access.optimizer.read(in, trainer));
      if (optimizer != null) {
        resume.lacks("the optimizer is not fully restored: " + optimizer);
      }
      resumed.reportMissing(trainer, access);
      return resumed;
    } catch (IOException | ReflectiveOperationException | RuntimeException e) {
      resume.fail(
          e instanceof InvocationTargetException ? Objects.requireNonNullElse(e.getCause(), e) : e);
      return null;
    }
  }

  private static List<Map<String, Float>> evaluations(List<?> listeners) {
    return listeners.stream()
        .filter(EvaluatorTrainingListener.class::isInstance)
        .map(listener -> ((EvaluatorTrainingListener) listener).getLatestEvaluations())
        .toList();
  }

  /** Runs a restore; returns why it failed, or null on success. */
  private static @Nullable String reason(Callable<@Nullable String> restoring) {
    try {
      return restoring.call();
    } catch (Exception e) {
      return String.valueOf(e);
    }
  }

  private void reportMissing(Trainer trainer, Access access) {
    Block block = trainer.getModel().getBlock();
    lacks(
        "any state of its own that the optimizer ",
        own(access.optimizer.of(trainer)),
        " keeps is not restored");
    for (Object tracker : access.optimizer.trackers(trainer)) {
      lacks("any state that the tracker ", own(tracker), " keeps is not restored");
    }
    if (progress.left) {
      resume.lacks(
          "the job ended epochs early; if it counts them itself, that count is not restored");
    }
    if (progress.several) {
      resume.lacks(
          "batches came from several data sets in turn; only the last one continues at its earlier"
              + " position");
    }
    if (random == null || randomBefore.length == 0) {
      resume.lacks(
          "DJL's random generator is not restored, because DJL created it before the agent"
              + " started");
    }
    if (all(block).anyMatch(ResumedTrainer::usesDropout)) {
      resume.lacks("PyTorch's random generator is not restored (the model has dropout)");
    }
    lacks(
        "any state that blocks of ",
        ownBlock(access, block),
        " keep besides parameters is not restored");
    lacks("any state that the loss ", own(trainer.getLoss()), " keeps is not restored");
    for (Object listener : access.listeners(trainer)) {
      lacks(
          "any state that the listener ",
          own(listener),
          " keeps is not restored: it is not called for skipped steps");
    }
  }

  /**
   * Logs that state of a class of the program is missing; does nothing if there is no such class.
   */
  private void lacks(String what, @Nullable String own, String more) {
    if (own != null) {
      resume.lacks(what + own + more);
    }
  }

  /** Returns the name of a part's class if it is the program's; null if it is DJL's. */
  private static @Nullable String own(@Nullable Object part) {
    String name = part == null ? KnownDjl.PREFIX : part.getClass().getName();
    return name.startsWith(KnownDjl.PREFIX)
        ? null
        : name.replaceFirst("\\$\\$Lambda.*", " (a lambda)");
  }

  /** Returns a block and all blocks within it. */
  private static Stream<Block> all(Block block) {
    return Stream.concat(
        Stream.of(block), block.getChildren().values().stream().flatMap(ResumedTrainer::all));
  }

  /** Whether a block uses dropout; recurrent blocks do so between their layers. */
  private static boolean usesDropout(Block block) {
    try {
      return block instanceof Dropout
          || LibraryField.all(
                  block.getClass(),
                  Object.class,
                  field -> field.getType() == float.class && field.getName().startsWith("drop"))
              .stream()
              .anyMatch(field -> (Float) field.require(block) > 0);
    } catch (RuntimeException e) {
      return true;
    }
  }

  /**
   * Returns the name of the first class of a block, or of a block's function, that is not DJL's;
   * null if there is none.
   */
  private static @Nullable String ownBlock(Access access, Block block) {
    return all(block)
        .map(part -> own(part instanceof LambdaBlock ? access.lambda.require(part) : part))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  /** Whether the library iterates over the batches, rather than the program's own loop. */
  private static boolean isInFit() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames.anyMatch(frame -> frame.getClassName().equals("ai.djl.training.EasyTrain")));
  }

  /**
   * Restores the model's parameters; returns null on success. On failure, returns the reason, and
   * the model is unchanged.
   */
  private static @Nullable String restore(Trainer trainer, Access access, Path checkpoint)
      throws IOException, ReflectiveOperationException {
    Block block = trainer.getModel().getBlock();
    if (all(block).anyMatch(part -> part.getClass().getSimpleName().endsWith("SymbolBlock"))) {
      return "the model was imported from PyTorch";
    }
    List<Parameter> parameters = block.getParameters().values();
    if (!parameters.stream().allMatch(Parameter::isInitialized)) {
      return "the model is not initialized when its first batch is requested";
    }
    List<NDArray> own = parameters.stream().map(Parameter::getArray).toList();
    boolean read = false;
    try {
      read =
          Boolean.TRUE.equals(
              access.readParameters.invoke(trainer.getModel(), file(checkpoint), Map.of()));
      for (int i = 0; i < own.size(); i++) {
        read = read && parameters.get(i).getArray().getShape().equals(own.get(i).getShape());
      }
    } finally {
      // The trainer refers to the arrays too, so they stay; only their contents are replaced.
      for (int i = 0; i < own.size(); i++) {
        NDArray saved = parameters.get(i).getArray();
        access.array.set(parameters.get(i), own.get(i));
        if (saved != own.get(i)) {
          if (read) { // A copy, because the arrays that were read lie in Java memory.
            own.get(i).intern(saved.duplicate());
            own.get(i).setRequiresGradient(parameters.get(i).requiresGradient());
          }
          saved.close();
        }
      }
    }
    return read ? null : "the model has other parameters";
  }

  private static Path file(Path checkpoint) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(checkpoint, "*.params")) {
      for (Path file : files) {
        return file;
      }
    }
    throw new IOException("no file of parameters in " + checkpoint);
  }

  /** Returns the number of steps of the model, including skipped ones. */
  long steps() {
    return progress.steps;
  }

  /**
   * Returns true if an epoch or evaluation ended before the step and must be skipped; records a
   * skipped epoch of the model's data set.
   */
  boolean trySkip(DataEpoch other) {
    boolean over = resume.isSkipping() && !isIn(other);
    if (over && other.dataset == dataset) { // The model is not trained on the others.
      recordSkipped(1);
    }
    return over;
  }

  private static void recordSkipped(int epochs) {
    Spans.exit(Spans.enter(SpanKind.SKIPPED, epochs), null);
  }

  boolean isIn(DataEpoch other) {
    return resume.isSkipping()
        && (progress.nested
            ? other.dataset == dataset && other.count == count
            : other.number == epoch);
  }

  /** Called before the sampler draws the order of the step's epoch. */
  void draw() {
    DataEpoch.restore(random, randomBefore);
  }

  /** Called when the order of the step's epoch is drawn: moves to the job's earlier position. */
  void arrive(
      Trainer trainer, Access access, DataEpoch at, @Nullable Iterator<?> followed, Object data) {
    // The program may have changed weights itself between steps.
    String reason = reason(() -> restore(trainer, access, checkpoint));
    if (reason != null) {
      resume.lacks(reason);
    }
    if (!isInFit()) {
      resume.lacks("any state that the program's own loop over batches keeps is not restored");
    }
    lacks("any state that ", own(data), " keeps is not restored");
    if (followed == null) {
      resume.lacks("the order of the data set is unknown, so its epoch starts over");
    } else {
      at.skip(followed, taken);
      recordSkipped(followed.hasNext() ? 0 : 1);
      if (at.order(taken) != order) {
        resume.lacks(
            "the order of the data differs, so items of this epoch may be used twice or not at"
                + " all");
      }
    }
    DataEpoch.restore(random, randomNow);
    List<?> listeners = access.listeners(trainer);
    for (int i = 0; i < Math.min(listeners.size(), counts.size()); i++) {
      counts.get(i).restore(listeners.get(i));
    }
    resume.end();
  }

  /** The numeric fields of a DJL listener, by name, except points in time. */
  private record Counts(String type, Map<String, Long> values) {
    private static boolean isKnown(Object listener) {
      return listener.getClass().getName().startsWith(LISTENERS);
    }

    private static List<LibraryField<Object>> fields(Object listener) {
      return LibraryField.all(
          isKnown(listener) ? listener.getClass() : Object.class,
          Object.class,
          field ->
              Set.of(int.class, long.class, double.class).contains(field.getType())
                  && !Modifier.isFinal(field.getModifiers())
                  && !field.getName().toLowerCase(Locale.ROOT).contains("time"));
    }

    static Counts of(Object listener) {
      Map<String, Long> values = new TreeMap<>();
      fields(listener).forEach(one -> values.put(one.field().getName(), one.bits(listener)));
      return new Counts(listener.getClass().getName(), values);
    }

    void write(DataOutputStream out) throws IOException {
      out.writeUTF(type);
      out.writeInt(values.size());
      for (Map.Entry<String, Long> one : values.entrySet()) {
        out.writeUTF(one.getKey());
        out.writeLong(one.getValue());
      }
    }

    static Counts read(DataInputStream in) throws IOException {
      Counts counts = new Counts(in.readUTF(), new TreeMap<>());
      for (int left = in.readInt(); left > 0; left--) {
        counts.values.put(in.readUTF(), in.readLong());
      }
      return counts;
    }

    void restore(Object listener) {
      if (!listener.getClass().getName().equals(type)) {
        return;
      }
      for (LibraryField<Object> field : fields(listener)) {
        Long value = values.get(field.field().getName());
        if (value != null) {
          field.setBits(listener, value);
        }
      }
    }
  }
}
