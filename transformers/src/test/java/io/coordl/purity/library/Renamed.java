package io.coordl.purity.library;

/** A library's object that another class of its package changes. */
public final class Renamed {
  String name;

  public Renamed(String name) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  /** Changes others. */
  public static final class Renamer {
    private Renamer() {}

    /** Renames one. */
    public static void rename(Renamed one) {
      one.name += "'";
    }
  }
}
