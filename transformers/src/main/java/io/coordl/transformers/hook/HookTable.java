package io.coordl.transformers.hook;

import static io.coordl.bridge.SpanKind.BATCH;
import static io.coordl.bridge.SpanKind.DECODE;
import static io.coordl.bridge.SpanKind.TAKE;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.hook.HookRule.Weave;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Builds the rules of one library, in order. A method is given by name and descriptor, or by name
 * alone for all overloads; a class by its internal name, null for any class.
 */
public final class HookTable {
  private final List<HookRule> rules = new ArrayList<>();
  private final String library;
  private final String folder;
  private String provenOn;
  private HookRule.@Nullable Interceptor by;

  /**
   * Creates an empty table.
   *
   * @param library name of the library, for the user
   * @param folder package of the interceptors
   * @param provenOn versions of the library with which the rules were tested
   */
  public HookTable(String library, String folder, String provenOn) {
    this.library = library;
    this.folder = folder;
    this.provenOn = provenOn;
  }

  public List<HookRule> rules() {
    return List.copyOf(rules);
  }

  /** Sets the tested versions of the following rules. */
  public void provenOn(String versions) {
    provenOn = versions;
  }

  public void span(SpanKind kind, @Nullable String owner, String... methods) {
    for (String method : methods) {
      add(Weave.SPAN, kind, owner, null, method);
    }
  }

  /** Adds spans of methods in classes that also declare {@code other}. */
  public void beside(SpanKind kind, String other, String... methods) {
    for (String method : methods) {
      add(Weave.SPAN, kind, null, other, method);
    }
  }

  /** Adds a span of a method, if the class declares it. */
  public void ifDeclared(SpanKind kind, String owner, String method) {
    add(Weave.SPAN, kind, owner, method, method);
  }

  /**
   * Times the batches of the iterable that a method in any class returns, if the iterable's class
   * cannot be hooked. Adds no span of the method itself.
   */
  public void timedIterable(String method) {
    add(Weave.TIMED_ITERABLE, TAKE, null, null, method);
  }

  /** Sets the interceptor of the following rules, and the policies that require it. */
  public void by(String name, Policy... policies) {
    by = new HookRule.Interceptor(folder + "." + name, List.of(policies));
  }

  public void intercept(@Nullable String owner, String... methods) {
    for (String method : methods) {
      add(Weave.INTERCEPT, DECODE, owner, null, method);
    }
  }

  /** Intercepts methods in classes that also declare {@code other}. */
  public void interceptBeside(String other, String... methods) {
    for (String method : methods) {
      add(Weave.INTERCEPT, DECODE, null, other, method);
    }
  }

  /** Makes the random generators that this method creates forkable. */
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
