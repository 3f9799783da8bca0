package io.coordl.recording;

/**
 * One argument of the agent as understood, for the recording.
 *
 * @param origin default, argument, file, environment, or the key that brought it along
 */
public record Setting(String key, String value, String origin) {}
