package io.coordl.library;

/**
 * An agent argument specific to a library. It may be repeated; by default it has no value.
 *
 * @param key as written in arguments
 * @param expected a description of its values, for the user
 * @param description its purpose
 */
public record LibraryArgument(String key, String expected, String description) {
  /** The value that stands for no value. */
  public static final String NONE = "none";
}
