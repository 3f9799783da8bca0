package io.coordl.telemetry.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Name of a figure in Prometheus and OpenTelemetry. Names are API. A name that ends with {@code
 * _total} is a counter; times are in seconds.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Metric {
  /** Name; several figures may share one if their labels differ. */
  String value();

  /** Label, such as {@code cause=fetch}; empty if only one figure has the name. */
  String label() default "";

  /** Help text of the name, if the description of its first figure is too narrow. */
  String help() default "";

  /** Whether 0 means unknown. */
  boolean absentIfZero() default false;
}
