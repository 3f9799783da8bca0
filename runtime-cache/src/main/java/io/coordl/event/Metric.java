package io.coordl.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What a figure is called outside: in Prometheus and OpenTelemetry. Names are API. One that ends
 * with {@code _total} only grows; times are in seconds.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Metric {
  /** Name, of several figures if a label tells them apart. */
  String value();

  /** That label, {@code cause=fetch}; empty if the name says it all. */
  String label() default "";

  /** Of the name, if the description of its first figure is too narrow. */
  String help() default "";

  /** Whether 0 says that it is not known. */
  boolean absentIfZero() default false;
}
