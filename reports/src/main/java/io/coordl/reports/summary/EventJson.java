package io.coordl.reports.summary;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.coordl.telemetry.advice.Advice;
import io.coordl.telemetry.event.GpuStatisticsEvent;
import io.coordl.telemetry.event.JobStatisticsEvent;
import io.coordl.telemetry.event.LatencyStatisticsEvent;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.util.Locale;
import java.util.Set;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyName;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.AnnotatedField;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;
import tools.jackson.databind.introspect.VisibilityChecker;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes results as JSON, in declaration order. Events are written directly from their fields:
 * names are field names, with {@code Nanos} appended for a time, and {@code Bytes} for a size whose
 * name does not end so. Unknown values are omitted.
 */
public final class EventJson {
  private static final class Introspector extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    /** Event fields that are 0, false or empty if unknown. */
    private static final Set<String> MAY_BE_UNKNOWN =
        Set.of("samples", "running", "order", "itemBytes", "itemSaves", "synchronizedSteps");

    @Override
    public @Nullable PropertyName findNameForSerialization(MapperConfig<?> config, Annotated a) {
      String name = a.getName();
      if (a.getAnnotated().isAnnotationPresent(Timespan.class)) {
        return PropertyName.construct(name + "Nanos");
      }
      if (a.getAnnotated().isAnnotationPresent(DataAmount.class)
          && !name.toLowerCase(Locale.ROOT).endsWith("bytes")) {
        return PropertyName.construct(name + "Bytes");
      }
      return super.findNameForSerialization(config, a);
    }

    @Override
    public JsonInclude.Value findPropertyInclusion(MapperConfig<?> config, Annotated a) {
      JsonInclude.Value inclusion = super.findPropertyInclusion(config, a);
      return a instanceof AnnotatedField field
              && Event.class.isAssignableFrom(field.getDeclaringClass())
              && MAY_BE_UNKNOWN.contains(field.getName())
          ? inclusion.withValueInclusion(Include.NON_DEFAULT)
          : inclusion;
    }

    @Override
    public VisibilityChecker findAutoDetectVisibility(
        MapperConfig<?> config, AnnotatedClass type, VisibilityChecker checker) {
      return Event.class.isAssignableFrom(type.getRawType())
          ? checker.withGetterVisibility(Visibility.NONE).withIsGetterVisibility(Visibility.NONE)
          : super.findAutoDetectVisibility(config, type, checker);
    }
  }

  @JsonIgnoreProperties({"mainClass", "frameworks", "faults"})
  private abstract static class OfJob {}

  @JsonIgnoreProperties({"epoch", "histogram"})
  private abstract static class OfLatency {}

  @JsonIgnoreProperties("nanos")
  private abstract static class OfAdvice {}

  private abstract static class OfGpu {
    @JsonProperty
    abstract double utilization();
  }

  private abstract static class OfStore {
    @JsonProperty
    abstract @Nullable Double hitRatio();
  }

  private EventJson() {}

  /** Returns a builder of a mapper that writes events and records in this way. */
  public static JsonMapper.Builder mapper() {
    return JsonMapper.builder()
        .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .annotationIntrospector(new Introspector())
        .changeDefaultPropertyInclusion(known -> known.withValueInclusion(Include.NON_NULL))
        .addMixIn(Advice.class, OfAdvice.class)
        .addMixIn(JobStatisticsEvent.class, OfJob.class)
        .addMixIn(GpuStatisticsEvent.class, OfGpu.class)
        .addMixIn(LatencyStatisticsEvent.class, OfLatency.class)
        .addMixIn(StoreStatisticsEvent.class, OfStore.class);
  }
}
