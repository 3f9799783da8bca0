package io.coordl.endtoend;

/** The training libraries, each with its example. */
enum Framework {
  /** The crops of its example are random: data, too, depend on the seed. */
  DJL("djl-image", "example.djl.TrainImages", 0),

  /** Its iterator looks at one record when it is made, to learn the shape, and reads it again. */
  DL4J("dl4j-image", "example.dl4j.TrainImages", 1);

  private final String module;
  private final String mainClass;
  private final int readAhead;

  Framework(String module, String mainClass, int readAhead) {
    this.module = module;
    this.mainClass = mainClass;
    this.readAhead = readAhead;
  }

  /** The module of the example. */
  String module() {
    return module;
  }

  /** Where the example starts. */
  String mainClass() {
    return mainClass;
  }

  /** Arguments of the example for a small network. */
  String[] small() {
    return this == DJL
        ? new String[] {"--size", "24", "--layers", "8"}
        : new String[] {"--size", "48"};
  }

  /** Reads of a job besides those of its epochs. */
  int readAhead() {
    return readAhead;
  }
}
