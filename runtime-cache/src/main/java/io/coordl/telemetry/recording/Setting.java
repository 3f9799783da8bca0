package io.coordl.telemetry.recording;

/**
 * One argument of the agent, as parsed, for the recording.
 *
 * @param origin default, argument, file, environment, or the key that implies it
 */
public record Setting(String key, String value, String origin) {}
