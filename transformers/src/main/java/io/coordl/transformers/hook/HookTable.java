package io.coordl.transformers.hook;

import static io.coordl.bridge.SpanKind.BATCH;
import static io.coordl.bridge.SpanKind.DECODE;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.hook.HookRule.Weave;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Builds the rules of one library, in their order. A method is its name and descriptor, or its name
 * alone for all overloads; a class is its internal name, null for any class.
 */
public final class HookTable {
  private final List<HookRule> rules = new ArrayList<>();
  private final String library;
  private final String folder;
  private String provenOn;
  private HookRule.@Nullable Interceptor by;

  /**
   * An empty table.
   *
   * @param library its name, for the user
   * @param folder package of the interceptors
   * @param provenOn versions of the library that the rules were proven on
   */
  public HookTable(String library, String folder, String provenOn) {
    this.library = library;
    this.folder = folder;
    this.provenOn = provenOn;
  }

  public List<HookRule> rules() {
    return List.copyOf(rules);
  }

  /** The rules that follow were proven on other versions. */
  public void provenOn(String versions) {
    provenOn = versions;
  }

  public void span(SpanKind kind, @Nullable String owner, String... methods) {
    for (String method : methods) {
      add(Weave.SPAN, kind, owner, null, method);
    }
  }

  /** Spans in classes that declare another method, too. */
  public void beside(SpanKind kind, String other, String... methods) {
    for (String method : methods) {
      add(Weave.SPAN, kind, null, other, method);
    }
  }

  /** A span of a method, where the class declares it. */
  public void ifDeclared(SpanKind kind, String owner, String method) {
    add(Weave.SPAN, kind, owner, method, method);
  }

  /** A span of any class's method; an iterable that it returns is timed if its class cannot be. */
  public void timedIterable(SpanKind kind, String method) {
    add(Weave.TIMED_ITERABLE, kind, null, null, method);
  }

  /** The rules that follow are for this interceptor, for one of these policies. */
  public void by(String name, Policy... policies) {
    by = new HookRule.Interceptor(folder + "." + name, List.of(policies));
  }

  public void intercept(@Nullable String owner, String... methods) {
    for (String method : methods) {
      add(Weave.INTERCEPT, DECODE, owner, null, method);
    }
  }

  /** The random generators that this method makes can be forked. */
  public void random(String owner, String method) {
    add(Weave.RANDOM, BATCH, owner, null, method);
  }

  private void add(
      Weave weave, SpanKind kind, @Nullable String owner, @Nullable String beside, String method) {
    int end = method.indexOf('(');
    String name = end < 0 ? method : method.substring(0, end);
    String descriptor = end < 0 ? null : method.substring(end);
    rules.add(new HookRule(library, owner, name, descriptor, beside, weave, kind, provenOn, by));
  }
}
