package io.coordl.telemetry.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a field that recordings of earlier versions lack; there it reads as 0, which means unknown.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Added {
  /** First version that has the field. */
  String value();
}
