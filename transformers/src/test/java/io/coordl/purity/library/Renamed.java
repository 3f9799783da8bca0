package io.coordl.purity.library;

/** A library's object whose field another class of the package sets. */
public final class Renamed {
  String title;

  public Renamed(String name) {
    this.title = name;
  }

  public String name() {
    return title;
  }

  /** Changes other objects. */
  public static final class Renamer {
    private Renamer() {}

    /** Sets the name. */
    public static void rename(Renamed one) {
      one.title += "'";
    }
  }
}
