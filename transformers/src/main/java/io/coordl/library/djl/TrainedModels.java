package io.coordl.library.djl;

import ai.djl.BaseModel;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.DataIterable;
import ai.djl.training.dataset.Sampler;
import ai.djl.util.RandomUtils;
import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.checkpoint.AgentCheckpoints;
import io.coordl.checkpoint.Resume;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts {@code Trainer.step}, after which the agent may take a checkpoint, and a trainer's
 * epochs, some of which an earlier job may have completed.
 */
public final class TrainedModels implements LibraryHooks {
  private static final String ELSEWHERE =
      "the job performs steps without batches of Trainer.iterateDataset";

  /**
   * The library lists the directory that it saves to, on this thread, which must not wait for
   * storage. So it gets a directory without models that never changes and allows no new files.
   */
  private static final Path NO_STORAGE = Path.of("/proc/self/ns");

  private static final boolean HAS_DIRECTORY = Files.isDirectory(NO_STORAGE);

  private final @Nullable AgentCheckpoints checkpoints;
  private final @Nullable Resume resume;
  private final @Nullable ForkableRandom random;
  private final ResumedTrainer.Access access = new ResumedTrainer.Access();
  private final LibraryField<Object> modelDir;
  private final LibraryField<Object> inputData;
  private final Map<Trainer, Progress> trainers = Collections.synchronizedMap(new WeakHashMap<>());
  private final AtomicInteger trainerCount = new AtomicInteger();
  private final Map<Object, DataEpoch> epochs = Collections.synchronizedMap(new WeakHashMap<>());
  private final ThreadLocal<Place> threads = ThreadLocal.withInitial(Place::new);

  /** The progress of a trainer; used by the training thread. */
  private static final class Progress {
    private final @Nullable ResumedTrainer resumed;
    private final int number;
    private long steps;

    Progress(int number, @Nullable ResumedTrainer resumed) {
      this.number = number;
      this.resumed = resumed;
      this.steps = resumed == null ? 0 : resumed.steps();
    }
  }

  /** The position of a training thread. */
  static final class Place {
    /** Maximum number of unfinished epochs to remember; two suffice to detect several data sets. */
    private static final int MAX_SINCE = 64;

    private int begun;
    private int datasets;

    /** The last epoch of each data set that the program still uses. */
    private final List<DataEpoch> last = new ArrayList<>();

    /**
     * Whether batches of one epoch were taken after another began; a resumed job may then number
     * its epochs differently.
     */
    private boolean nested;

    /** Whether an epoch ended early. */
    private boolean left;

    /** Why a checkpoint of this thread cannot be resumed; empty if it can. */
    private String reason = "";

    /** The call of {@code iterateDataset} in progress. */
    private @Nullable Iterating iterating;

    /** The epoch of its last batch. */
    private @Nullable DataEpoch current;

    /** The epochs of the batches taken since the last step. */
    private final Set<DataEpoch> since = new HashSet<>();

    DataEpoch begin(Object dataset, @Nullable ForkableRandom random) {
      last.removeIf(DataEpoch::isDropped);
      DataEpoch before =
          last.stream().filter(epoch -> epoch.goesOver(dataset)).findFirst().orElse(null);
      DataEpoch epoch;
      if (before == null) {
        epoch = new DataEpoch(dataset, begun++, datasets++, 0, random);
      } else {
        left |= before.isPartlyTaken();
        last.remove(before);
        epoch = new DataEpoch(dataset, begun++, before.dataset, before.count + 1, random);
      }
      last.add(epoch);
      return epoch;
    }

    /** Ends a step; returns whether its batches came from several data sets. */
    boolean step() {
      boolean several = since.stream().anyMatch(epoch -> epoch != current && !epoch.isOver());
      if (since.isEmpty()) {
        reason = ELSEWHERE;
      } else if (nested && current != null && current.dataset > 0) {
        reason = "the job iterates over several data sets at once";
      }
      since.clear();
      return several;
    }

    void take(DataEpoch epoch) {
      nested |= epoch.number < begun - 1;
      epoch.take();
      current = epoch;
      since.removeIf(DataEpoch::isOver);
      if (since.size() < MAX_SINCE) {
        since.add(epoch);
      }
    }
  }

  public TrainedModels(Class<?> declaring, Services services) throws ReflectiveOperationException {
    this.checkpoints = services.checkpoints();
    this.resume = services.resume();
    this.random = RandomUtils.RANDOM instanceof ForkableRandom forkable ? forkable : null;
    this.modelDir = LibraryField.of(BaseModel.class, "modelDir");
    this.inputData = LibraryField.of(BaseModel.class, "inputData");
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    switch (method) {
      case "step" -> {
        return step((Trainer) self);
      }
      case "iterateDataset" -> {
        return new Iterating((Trainer) self, arguments[0]);
      }
      case "sample" -> {
        Iterating iterating = threads.get().iterating;
        return iterating == null || !(self instanceof Sampler)
            ? null
            : InterceptedCall.after(iterating::sampled);
      }
      case "next" -> {
        DataEpoch epoch = epochs.get(self);
        if (epoch != null) {
          threads.get().take(epoch);
        }
        return null;
      }
      default -> { // notifyListeners
        return resume != null && resume.isSkipping() ? InterceptedCall.skipping() : null;
      }
    }
  }

  private Progress progress(Trainer trainer) {
    Progress made = trainers.get(trainer);
    if (made == null) {
      made =
          new Progress(
              trainerCount.getAndIncrement(),
              resume == null ? null : ResumedTrainer.of(trainer, access, resume, random));
      trainers.put(trainer, made);
      if (resume != null && made.resumed == null && resume.isSkipping()) {
        resume.lacks(
            "another trainer began before the resumed one had reached its earlier position");
        resume.end();
      }
    }
    return made;
  }

  private final class Iterating extends InterceptedCall {
    private final Trainer trainer;
    private final Place thread = threads.get();
    private final Object dataset;
    private final DataEpoch epoch;
    private final @Nullable ResumedTrainer resumed;
    private boolean sampled;

    Iterating(Trainer trainer, Object dataset) {
      super(null);
      this.trainer = trainer;
      this.dataset = dataset;
      this.epoch = thread.begin(dataset, random);
      this.resumed = progress(trainer).resumed;
      thread.iterating = this;
      if (resumed != null && resumed.isIn(epoch)) {
        resumed.draw();
      }
    }

    @Nullable Object sampled(@Nullable Object own) {
      if (sampled || !(own instanceof Iterator<?> order)) {
        return own;
      }
      sampled = true;
      Iterator<?> followed = epoch.follow(order);
      if (resumed != null && resumed.trySkip(epoch)) {
        return Collections.emptyIterator();
      }
      if (resumed != null && resumed.isIn(epoch)) {
        resumed.arrive(trainer, access, epoch, followed, dataset);
      }
      return followed;
    }

    @Override
    public @Nullable Object result(@Nullable Object own) {
      thread.iterating = null;
      if (own instanceof DataIterable && sampled) {
        epochs.put(own, epoch);
      } else {
        thread.reason = "the order of " + dataset.getClass().getName() + " is not known";
      }
      if (resumed != null && !sampled) {
        if (resumed.trySkip(epoch)) {
          return List.of();
        } else if (resumed.isIn(epoch)) {
          resumed.arrive(trainer, access, epoch, null, dataset);
        }
      }
      return own;
    }

    @Override
    public void failed() {
      thread.iterating = null;
    }
  }

  private @Nullable InterceptedCall step(Trainer trainer) {
    AgentCheckpoints taking = checkpoints;
    if (taking == null || !(trainer.getModel() instanceof BaseModel model)) {
      return null;
    }
    String name = Objects.requireNonNullElse(model.getName(), "model");
    if (resume != null && !trainers.containsKey(trainer)) {
      resume.refuse(ELSEWHERE); // Nothing can be restored during a step.
    }
    Progress made = progress(trainer);
    return InterceptedCall.after(
        own -> {
          made.steps++;
          boolean several = threads.get().step();
          taking.stepped(model, name, saver(trainer, model, made, several));
          return own;
        });
  }

  private AgentCheckpoints.Saver saver(
      Trainer trainer, BaseModel model, Progress made, boolean several) {
    return new AgentCheckpoints.Saver() {
      @Override
      public void state(DataOutputStream out) throws IOException {
        Place place = threads.get();
        String reason =
            made.number > 0
                ? "the checkpoint belongs to the second trainer of the job, or to a later one"
                : place.reason;
        ResumedTrainer.write(
            out,
            access,
            trainer,
            new ResumedTrainer.Progress(reason, several, place.nested, place.left, made.steps),
            place.current,
            random);
      }

      /** {@link SavedModels} handles the rest; to the program, the model appears unsaved. */
      @Override
      public void save(Path directory) throws IOException {
        Object before = modelDir.get(model);
        Object input = inputData.get(model);
        try {
          model.save(HAS_DIRECTORY ? NO_STORAGE : directory, null);
        } finally {
          modelDir.set(model, before);
          inputData.set(model, input);
        }
      }
    };
  }
}
