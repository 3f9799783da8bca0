package io.coordl.transformers;

import io.coordl.bridge.SpanKind;
import io.coordl.library.catalog.Libraries;
import io.coordl.transformers.callsite.CallSite;
import io.coordl.transformers.callsite.CallSites;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.Policy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import net.bytebuddy.jar.asm.Type;

/** Generates tables of all rewritten methods from the rules, for docs. */
public final class RewriteTable {
  /** A row without its methods. */
  private record Row(String library, String effect, String provenOn) {}

  private final Map<Row, List<String>> rows = new LinkedHashMap<>();

  private RewriteTable() {}

  /** Returns one table per library: the method, the effect, and the tested versions. */
  public static String markdown() {
    RewriteTable table = new RewriteTable();
    for (CallSite site : CallSites.TABLE) {
      String effect = "calls `" + simple(site.bridge()) + "`";
      table.add(new Row(libraryOf(site), effect, site.provenOn()), site.signature());
    }
    for (HookRule rule : Libraries.known().hooks()) {
      table.add(new Row(rule.library(), effect(rule), rule.provenOn()), method(rule));
    }
    return table.print();
  }

  /** Returns the effect of the rule on its method, for docs. */
  public static String effect(HookRule rule) {
    HookRule.Interceptor interceptor = rule.interceptor();
    return interceptor != null
        ? (rule.weave() == HookRule.Weave.RANDOM ? "generator forkable with" : "intercepted by")
            + " `"
            + interceptor.policies().stream()
                .map(Policy::toString)
                .collect(Collectors.joining("` or `"))
            + "`"
        : rule.weave() == HookRule.Weave.TIMED_ITERABLE
            ? "batches of the returned iterable timed"
            : "span: " + span(rule.kind());
  }

  private static String span(SpanKind kind) {
    return switch (kind) {
      case ASK -> "hasNext";
      case TAKE -> "next batch";
      case EPOCH -> "start of an epoch";
      case DATA_SET -> "preparation of a data set";
      case PRODUCER -> "worker thread";
      case BATCH -> "batch preparation";
      case ASSEMBLE -> "batch assembly";
      case CONVERT -> "pixels to array";
      case FIT -> "training loop";
      case COMPUTE -> "step";
      case UPDATE -> "model update";
      default -> kind.name().toLowerCase(Locale.ROOT);
    };
  }

  private void add(Row row, String method) {
    List<String> methods = rows.computeIfAbsent(row, unused -> new ArrayList<>());
    if (!methods.contains(method)) {
      methods.add(method);
    }
  }

  private String print() {
    StringBuilder text = new StringBuilder();
    String library = "";
    for (Map.Entry<Row, List<String>> entry : rows.entrySet()) {
      Row row = entry.getKey();
      if (!row.library().equals(library)) {
        library = row.library();
        text.append(text.isEmpty() ? "" : "\n");
        text.append("| ").append(library).append(" method | effect | tested with |\n");
        text.append("|---|---|---|\n");
      }
      StringJoiner methods = new StringJoiner("`, `", "| `", "` | ");
      entry.getValue().forEach(methods::add);
      text.append(methods).append(row.effect()).append(" | ").append(row.provenOn());
      text.append(" |\n");
    }
    return text.toString();
  }

  private static String libraryOf(CallSite site) {
    return site.owner().startsWith("java") ? "JDK" : "OpenCV";
  }

  /** Returns the rule's method, for docs. */
  public static String method(HookRule rule) {
    String owner = rule.owner();
    String method = (owner == null ? "" : simple(owner) + ".") + rule.method();
    String beside = rule.beside();
    return method
        + signature(rule.descriptor())
        + (beside == null ? "" : "` in classes with `" + named(beside));
  }

  private static String named(String method) {
    int descriptor = method.indexOf('(');
    return method.substring(0, descriptor) + signature(method.substring(descriptor));
  }

  private static String signature(String descriptor) {
    if (descriptor == null) {
      return "(..)";
    }
    StringJoiner parameters = new StringJoiner(", ", "(", ")");
    for (Type type : Type.getArgumentTypes(descriptor)) {
      parameters.add(simple(type.getClassName()));
    }
    Type result = Type.getReturnType(descriptor);
    return parameters + (result.getSort() == Type.VOID ? "" : ": " + simple(result.getClassName()));
  }

  private static String simple(String className) {
    String name = className.substring(className.lastIndexOf('/') + 1);
    return name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
  }
}
