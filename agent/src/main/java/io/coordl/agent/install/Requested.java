package io.coordl.agent.install;

import io.coordl.telemetry.recording.JobMonitor;
import io.coordl.telemetry.recording.UserText;
import java.util.function.Supplier;

/** Registers what the user requested, so that the summary reports what had no effect, and why. */
record Requested(Options options, JobMonitor job) {
  /**
   * Registers a requested option.
   *
   * @param why returns, when the job ends, why it had no effect; empty if it had one
   */
  void register(Option option, String value, Supplier<String> why) {
    if (options.isChosen(option)) {
      return; // The agent's own choice, which is reported elsewhere.
    }
    String argument = option.key() + "=" + UserText.value(value);
    job.addRequested(argument, option == Option.PREFETCH ? option.key() : argument, why);
  }

  void register(Option option, Supplier<String> why) {
    register(option, options.get(option), why);
  }
}
