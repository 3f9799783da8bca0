package io.coordl.telemetry.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A field that recordings of an earlier version lack; it is then 0, which stands for unknown. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Added {
  /** The version that first has it. */
  String value();
}
