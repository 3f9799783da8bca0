package io.coordl.reports.differential;

import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** A differential profile as JSON, in the order of its declaration. */
public final class DifferentialJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build();

  private DifferentialJson() {}

  /** One JSON object; {@code differential.schema.json} describes it. */
  public static String of(Differential differential) {
    return MAPPER.writeValueAsString(differential);
  }
}
