package io.coordl.telemetry.event;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import jdk.jfr.Label;
import jdk.jfr.MetadataDefinition;
import jdk.jfr.Name;
import jdk.jfr.Relational;

/** Relates all events of one batch; 0 means outside any batch. */
@MetadataDefinition
@Relational
@Name("io.coordl.BatchId")
@Label("Batch")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface BatchId {}
