package io.coordl.reports.summary;

import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** A summary as JSON, in the order of its declaration. */
public final class SummaryJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(SerializationFeature.INDENT_OUTPUT)
          // So that the JSON is the same whatever the terminal's encoding.
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .build();

  private SummaryJson() {}

  /** One JSON object; {@code summary.schema.json} describes it. */
  public static String of(Summary summary) {
    return MAPPER.writeValueAsString(summary);
  }
}
