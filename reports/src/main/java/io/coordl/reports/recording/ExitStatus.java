package io.coordl.reports.recording;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How a command ended, as a shell sees it. Those from 64 on are the numbers of {@code sysexits.h};
 * 141 is what a shell reports of a program that a closed pipe ended.
 */
public enum ExitStatus {
  DONE(0, "it worked"),
  UNREADABLE(1, "the recording or job is missing, may not be read or is no file"),
  USAGE(2, "the command line is wrong"),
  NO_RECORDING(3, "the file is empty or not a Flight Recorder recording"),
  DAMAGED(4, "the recording is damaged or cut off"),
  WITHOUT_OUR_EVENTS(5, "the recording lacks the CoorDL events that are needed"),
  OTHER_VERSION(6, "another version of the agent wrote the recording"),
  SEVERAL_RUNS(7, "the file holds recordings of several runs"),
  BAD_INPUT(8, "a trace, a table of models or a description of a cluster is wrong"),
  DIFFERENT_JOBS(9, "the recordings are of different jobs, which are not compared"),
  DEFECT(70, "a defect of coordl"),
  HEAP(71, "the heap of coordl is too small"),
  UNWRITABLE(74, "the result cannot be written"),
  PIPE_CLOSED(141, "whoever read the output has closed it");

  private final int code;
  private final String meaning;

  ExitStatus(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  public int code() {
    return code;
  }

  /** For the help of a command: what each number means, in the order of the numbers. */
  public static Map<String, String> table() {
    Map<String, String> table = new LinkedHashMap<>();
    for (ExitStatus status : values()) {
      // Right-aligned, as picocli prints the keys as they are.
      table.put("%4d".formatted(status.code), status.meaning);
    }
    return table;
  }
}
