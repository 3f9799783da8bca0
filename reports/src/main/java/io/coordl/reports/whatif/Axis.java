package io.coordl.reports.whatif;

/** Name and unit of an axis; the unit is as in {@link Figure}. */
public record Axis(String name, String unit) {
  static final Axis SPEED = new Axis("speed", "samples/s");
  static final Axis CACHE = new Axis("cache", "share");
  static final Axis WORKERS = new Axis("workers", "threads");
  static final Axis HOSTS = new Axis("hosts", "hosts");
}
