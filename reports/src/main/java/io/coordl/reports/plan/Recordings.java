package io.coordl.reports.plan;

import io.coordl.reports.cluster.InputException;
import io.coordl.reports.cluster.ModelTable;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;

/** Makes a table of a recorded job. */
public interface Recordings {
  /** A table with one model. */
  ModelTable table(Path file) throws RecordingException, InputException;
}
