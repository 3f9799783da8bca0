package io.coordl.reports.recording;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The exit status of a command. 70, 71 and 74 are those of {@code sysexits.h}; 141 is the status
 * that a shell reports for a program ended by a closed pipe.
 */
public enum ExitStatus {
  DONE(0, "success"),
  UNREADABLE(1, "the recording or job is missing, unreadable or not a file"),
  USAGE(2, "the command line is wrong"),
  NO_RECORDING(3, "the file is empty or not a Flight Recorder recording"),
  DAMAGED(4, "the recording is damaged or cut off"),
  WITHOUT_OUR_EVENTS(5, "the recording lacks the CoorDL events that are needed"),
  OTHER_VERSION(6, "another version of the agent wrote the recording"),
  SEVERAL_RUNS(7, "the file contains recordings of several runs"),
  BAD_INPUT(8, "a trace, model table or cluster description is invalid"),
  DIFFERENT_JOBS(9, "the recordings are of different jobs, which are not compared"),
  DEFECT(70, "internal error of coordl"),
  HEAP(71, "the heap of coordl is too small"),
  UNWRITABLE(74, "the result cannot be written"),
  PIPE_CLOSED(141, "the reader of the output closed it");

  private final int code;
  private final String meaning;

  ExitStatus(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  public int code() {
    return code;
  }

  /** Returns the meaning of each code, in ascending order, for the help text. */
  public static Map<String, String> table() {
    Map<String, String> table = new LinkedHashMap<>();
    for (ExitStatus status : values()) {
      // Right-aligned here, because picocli prints the keys unchanged.
      table.put("%4d".formatted(status.code), status.meaning);
    }
    return table;
  }
}
