package io.coordl.telemetry.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Name of a figure in Prometheus and OpenTelemetry. Names are API. A figure whose name ends with
 * {@code _total} is a counter. Times are in seconds.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Metric {
  /** Name; several figures may share one if their labels differ. */
  String value();

  /** Label, such as {@code cause=fetch}; empty if only one figure has the name. */
  String label() default "";

  /** Help text; if empty, the description of the figure. */
  String help() default "";

  /** Whether 0 means unknown. */
  boolean absentIfZero() default false;
}
