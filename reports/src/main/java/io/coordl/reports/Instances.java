package io.coordl.reports;

import io.coordl.reports.accelerator.AcceleratorProfile;
import io.coordl.reports.recording.RecordingException;
import io.coordl.reports.recording.RecordingReader;
import io.coordl.telemetry.event.PhaseEvent;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Runs several instances of a program at the same time, each with an emulated accelerator. Their
 * output goes to temporary files; the error for a failed instance quotes the last line of its
 * output.
 */
final class Instances implements AcceleratorProfile.Instances {
  private static final long POLL_MILLIS = 100;

  /** Prepares the program's process with the given agent arguments. */
  interface Programs {
    ProcessBuilder program(String agentArguments) throws RecordingException;
  }

  private final String step;
  private final Programs programs;
  private final Consumer<String> progress;

  /**
   * @param step step time in milliseconds, in the agent's notation
   * @param progress receives a line for each number of instances
   */
  Instances(String step, Programs programs, Consumer<String> progress) {
    this.step = step;
    this.programs = programs;
    this.progress = progress;
  }

  @Override
  public List<PhaseEvent> run(int count) throws RecordingException {
    progress.accept(
        "%d emulated accelerator%s: about half a minute".formatted(count, count == 1 ? "" : "s"));
    try {
      Path folder = Files.createTempDirectory("coordl-accelerators-");
      try {
        if (folder.toString().indexOf(',') >= 0) {
          throw new RecordingException(
              "the directory of temporary files must not contain a comma: " + folder);
        }
        return run(count, folder);
      } finally {
        delete(folder);
      }
    } catch (IllegalStateException e) {
      throw new RecordingException("coordl was stopped while the programs ran.");
    } catch (IOException e) {
      throw new RecordingException("the instances cannot be run: " + e + ".");
    }
  }

  private List<PhaseEvent> run(int count, Path folder) throws IOException, RecordingException {
    Path meeting = Files.createDirectory(folder.resolve("meeting"));
    List<Process> running = new CopyOnWriteArrayList<>(); // The hook may run at any time.
    Thread stop = new Thread(() -> running.forEach(Process::destroy));
    Runtime.getRuntime().addShutdownHook(stop); // Stopping this command stops the instances.
    try {
      for (int i = 0; i < count; i++) {
        String arguments =
            "profile.accelerator=%s:%d:%s,record=%s,summary=off"
                .formatted(step, count, meeting, recording(folder, i));
        running.add(
            programs
                .program(arguments)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectErrorStream(true)
                .redirectOutput(log(folder, i).toFile())
                .start());
      }
      await(running, folder);
    } finally {
      running.forEach(Process::destroyForcibly);
      Runtime.getRuntime().removeShutdownHook(stop);
    }
    List<PhaseEvent> measured = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      measured.add(measured(folder, i));
    }
    return measured;
  }

  private static Path recording(Path folder, int instance) {
    return folder.resolve("instance-" + instance + ".jfr");
  }

  private static Path log(Path folder, int instance) {
    return folder.resolve("instance-" + instance + ".log");
  }

  /** Waits until all instances have ended; throws as soon as one has failed. */
  private static void await(List<Process> running, Path folder)
      throws IOException, RecordingException {
    List<Process> remaining = new ArrayList<>(running);
    try {
      while (!remaining.isEmpty()) {
        Process first = remaining.get(0);
        first.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
        for (Process each : running) {
          if (!each.isAlive() && each.exitValue() != 0) {
            throw new RecordingException(
                "the program ended with exit code %d: %s"
                    .formatted(each.exitValue(), lastLine(log(folder, running.indexOf(each)))));
          }
        }
        remaining.removeIf(each -> !each.isAlive());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RecordingException("interrupted while the programs ran.");
    }
  }

  /** Returns the last line of a program's output. */
  private static String lastLine(Path log) throws IOException {
    String all = new String(Files.readAllBytes(log), StandardCharsets.UTF_8).strip();
    return all.isEmpty() ? "there was no output." : all.substring(all.lastIndexOf('\n') + 1);
  }

  private static PhaseEvent measured(Path folder, int instance)
      throws RecordingException, IOException {
    if (!Files.exists(recording(folder, instance))) {
      throw new RecordingException(ProfileCommand.NO_RECORDING);
    }
    for (PhaseEvent phase :
        RecordingReader.read(recording(folder, instance), done -> {}).phases()) {
      if ("accelerator".equals(phase.phase)) {
        if (phase.wall <= 0) {
          throw new RecordingException("nothing was measured: " + phase.note + ".");
        }
        return phase;
      }
    }
    throw new RecordingException("nothing was measured: " + lastLine(log(folder, instance)));
  }

  private static void delete(Path folder) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, IOException failed)
              throws IOException {
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
