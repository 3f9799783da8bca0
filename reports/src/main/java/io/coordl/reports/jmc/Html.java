package io.coordl.reports.jmc;

/** Text of a recording as text of a page: Mission Control shows results as HTML. */
final class Html {
  private Html() {}

  /** Braces are written as entities too, as Mission Control fills in what stands between them. */
  static String of(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("{", "&#123;")
        .replace("}", "&#125;");
  }
}
