package io.coordl.reports.recording;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The event a record mirrors: its components are fields of that event, of the same name. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface EventName {
  String value();
}
