package io.coordl.purity.library;

/** A library's object that another class of its package changes. */
public final class Renamed {
  String title;

  public Renamed(String name) {
    this.title = name;
  }

  public String name() {
    return title;
  }

  /** Changes others. */
  public static final class Renamer {
    private Renamer() {}

    /** Renames one. */
    public static void rename(Renamed one) {
      one.title += "'";
    }
  }
}
