package io.coordl.endtoend;

/** The training libraries, each with its example. */
enum Framework {
  /** Its example crops at random, so the data depend on the seed, too. */
  DJL("djl-image", "example.djl.TrainImages", 0),

  /** A new iterator reads one record to learn the shape; epoch 1 reads this record again. */
  DL4J("dl4j-image", "example.dl4j.TrainImages", 1);

  private final String module;
  private final String mainClass;
  private final int readAhead;

  Framework(String module, String mainClass, int readAhead) {
    this.module = module;
    this.mainClass = mainClass;
    this.readAhead = readAhead;
  }

  /** Returns the module of the example. */
  String module() {
    return module;
  }

  /** Returns the example's main class. */
  String mainClass() {
    return mainClass;
  }

  /** Arguments of the example for a small network. */
  String[] small() {
    return this == DJL
        ? new String[] {"--size", "24", "--layers", "8"}
        : new String[] {"--size", "48"};
  }

  /** Reads of a job in addition to those of its epochs. */
  int readAhead() {
    return readAhead;
  }
}
