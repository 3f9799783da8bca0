package io.coordl.agent.install;

import java.util.Locale;

/**
 * Every argument of the agent: the one declaration that parsing, the help text, the README's table
 * and the recording share.
 */
public enum Option {
  ENABLED("true", "true, false", Values.CHOICE, "kill switch: false leaves the program untouched"),
  RECORD(
      "coordl-%p.jfr",
      "FILE, off",
      Values.TEXT,
      "JFR recording to write, %p is the process id; by default joins a recording that runs"
          + " already"),
  SUMMARY("on", "on, off", Values.CHOICE, "the text at exit"),
  DATASET(
      "inferred",
      "inferred, PATH or GLOB (may be repeated)",
      Values.LIST,
      "which files are items of the data set; inferred: those read while a sample is loaded"),
  CACHE(
      "off",
      "off, minio",
      Values.CHOICE,
      "keep raw items in memory: admitted until the budget is full, never evicted"),
  CACHE_SIZE(
      "auto",
      "auto, SIZE such as 8g or 512m, SHARE of memory such as 50%",
      Values.SIZE,
      "byte budget of the cache; auto: half of what is free, within the container's limit, a"
          + " quarter if decoded.size is given"),
  CACHE_SCOPE(
      "process",
      "process, host",
      Values.CHOICE,
      "private to this job, or shared through /dev/shm by all jobs of the group on this host"),
  DECODED(
      "off",
      "off, share",
      Values.CHOICE,
      "keep decoded images too, so that each is decoded once; cache.scope says for whom"),
  DECODED_SIZE(
      "auto",
      "auto, SIZE such as 8g or 512m, SHARE of memory such as 50%",
      Values.SIZE,
      "byte budget of the decoded images; auto: half of what is free, or with cache=minio a share"
          + " of cache.size, as measured"),
  PREFETCH(
      "off",
      "off, N from 1 to 64",
      Values.COUNT,
      "prepare batches ahead on a thread of the agent, and with N > 1 decode their items on N"
          + " threads into the decoded store"),
  PREP(
      "off",
      "off, coordinate",
      Values.CHOICE,
      "coordinate: the jobs of the group prepare each batch once between them, and share order and"
          + " augmentation"),
  PREP_JOBS(
      "auto",
      "auto, N from 1 to 16",
      Values.COUNT,
      "how many jobs to wait for before the first shared pass; auto: those that are there"),
  PREP_SIZE(
      "auto",
      "auto, SIZE such as 8g or 512m, SHARE of memory such as 50%",
      Values.SIZE,
      "byte budget of the staging buffer of each pipeline; auto: an eighth of what is free"),
  GROUP(
      "default",
      "NAME",
      Values.TEXT,
      "which jobs of this user share with cache.scope=host or prep=coordinate");

  /** How values are checked. */
  enum Values {
    CHOICE,
    TEXT,
    LIST,
    SIZE,
    COUNT
  }

  private final String byDefault;
  private final String expected;
  private final Values check;
  private final String description;

  Option(String byDefault, String expected, Values check, String description) {
    this.byDefault = byDefault;
    this.expected = expected;
    this.check = check;
    this.description = description;
  }

  /** As written in arguments: {@code cache.size}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '.');
  }

  String byDefault() {
    return byDefault;
  }

  String expected() {
    return expected;
  }

  Values check() {
    return check;
  }

  String description() {
    return description;
  }
}
