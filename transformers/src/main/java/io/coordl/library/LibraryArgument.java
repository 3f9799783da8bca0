package io.coordl.library;

/**
 * An argument of the agent that a library brings. It may be repeated; by default there is none.
 *
 * @param key as written in arguments
 * @param expected its values, for the user
 * @param description what it is for
 */
public record LibraryArgument(String key, String expected, String description) {}
