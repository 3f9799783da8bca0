package io.coordl.purity.library;

/** A library's object with a non-final field that only its constructor sets. */
public final class Named {
  String name;

  public Named(String name) {
    this.name = name;
  }

  public String name() {
    return name;
  }
}
