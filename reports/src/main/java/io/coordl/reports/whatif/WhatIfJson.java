package io.coordl.reports.whatif;

import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Answers as JSON, in the order of their declaration. */
public final class WhatIfJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build();

  private WhatIfJson() {}

  /** One JSON object; {@code whatif.schema.json} describes it. */
  public static String of(WhatIf whatIf) {
    return MAPPER.writeValueAsString(whatIf);
  }
}
