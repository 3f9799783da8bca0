package example.truth;

/**
 * Arguments of a program: {@code PROGRAM [PREP_MILLIS STEP_MILLIS BATCHES EPOCHS]}.
 *
 * @param program name of the loop to run
 * @param prepMillis milliseconds to prepare a batch
 * @param stepMillis milliseconds that a step sleeps, in addition to its small real computation
 * @param batches batches per epoch
 * @param epochs number of epochs
 */
record Settings(String program, int prepMillis, int stepMillis, int batches, int epochs) {
  /** Whether each batch first reads a file. */
  boolean reads() {
    return program.endsWith("-read");
  }

  /** Returns the file to read. */
  String file() {
    return System.getProperty("truth.file");
  }

  static Settings of(String... args) {
    if (args.length != 1 && args.length != 5) {
      throw new IllegalArgumentException(
          "Expected PROGRAM [PREP_MILLIS STEP_MILLIS BATCHES EPOCHS].");
    }
    return args.length == 1
        ? new Settings(args[0], 100, 40, 20, 2)
        : new Settings(
            args[0],
            Integer.parseInt(args[1]),
            Integer.parseInt(args[2]),
            Integer.parseInt(args[3]),
            Integer.parseInt(args[4]));
  }
}
