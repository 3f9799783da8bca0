package io.coordl.reports.plan;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;

/** Reads recorded jobs as model tables. */
public interface Recordings {
  /** Returns a table with the recorded job as its only model. */
  ModelTable table(Path file) throws RecordingException, InputException;
}
