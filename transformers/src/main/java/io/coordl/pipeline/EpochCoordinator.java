package io.coordl.pipeline;

import io.coordl.coordination.PrepGroup;
import io.coordl.host.AgentThread;
import io.coordl.telemetry.log.OnceLog;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * {@code prep=coordinate}: the epochs of one library's pipelines that this job shares with its
 * group. Thread-safe.
 */
public final class EpochCoordinator {
  private final String library;
  private final OnceLog log;
  final PrepGroup group;

  /** Epochs that have begun and not ended. */
  final List<CoordinatedEpoch> begun = new CopyOnWriteArrayList<>();

  private final Cleaner cleaner =
      Cleaner.create(action -> new AgentThread("coordl-epochs", action));

  /** Coordinates the pipelines of one library; {@code library} is its name in messages. */
  public EpochCoordinator(String library, Services services) {
    this.library = library;
    this.group = Objects.requireNonNull(services.group());
    this.log = new OnceLog(services.log());
  }

  /** Ends the epochs of pipelines that use {@code part}. */
  public void end(Object part) {
    for (CoordinatedEpoch epoch : begun) {
      if (epoch.pipeline.uses(part)) {
        epoch.end();
      }
    }
  }

  /** Logs once which part is not coordinated. */
  public void leave(CannotShareException what) {
    log.once("prep=coordinate leaves " + what.getMessage() + " to " + library + ".");
  }

  /** Registers an epoch. It ends at the latest when its owner is garbage-collected. */
  void begun(CoordinatedEpoch epoch, Object owner) {
    begun.add(epoch);
    cleaner.register(owner, epoch::end);
  }
}
