package io.coordl.transformers.hook;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.classfile.ClassFile;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One kind of method to mark.
 *
 * <p>A rule with an owner is for that class alone, and its method must be there, unless {@code
 * beside} makes it depend on what the class declares. A rule without owner is for every class that
 * declares the method: its descriptor names types of the library, so it finds user classes and
 * framework classes alike without loading or walking supertypes, and can find no others.
 *
 * @param library whose types these are
 * @param owner internal name of the class, null for any
 * @param descriptor JVM descriptor, null for all overloads (only with an owner)
 * @param beside name and descriptor of another method ({@code next}) that the class must declare
 *     too, for methods such as {@code hasNext()} whose own descriptor names no library type
 * @param provenOn library versions the rule was proven on
 * @param interceptor for INTERCEPT and RANDOM alone
 */
public record HookRule(
    String library,
    @Nullable String owner,
    String method,
    @Nullable String descriptor,
    @Nullable String beside,
    Weave advice,
    SpanKind kind,
    String provenOn,
    @Nullable Interceptor interceptor) {

  /**
   * What intercepts calls.
   *
   * @param name of our class
   * @param policies that need it, each on its own
   */
  public record Interceptor(String name, List<Policy> policies) {}

  public enum Weave {
    /** A span around it; the subject is {@code this}, the result what it returns. */
    SPAN,
    /** As SPAN, and the returned iterable is wrapped if its class cannot be marked. */
    TIMED_ITERABLE,
    /** The runtime is asked for a replacement first; the method runs only if there is none. */
    INTERCEPT,
    /** Random generators it makes draw what the JDK's do, and can be forked. */
    RANDOM
  }

  /** The string whose presence in a constant pool makes a class worth a closer look. */
  String marker() {
    if (owner != null) {
      return owner;
    }
    return beside != null
        ? beside.substring(beside.indexOf('('))
        : Objects.requireNonNull(descriptor, method);
  }

  /** Whether it is about that method of a class that declares these, as name and descriptor. */
  boolean fits(ClassFile.Method declared, Set<String> all) {
    return method.equals(declared.name())
        && (descriptor == null || descriptor.equals(declared.descriptor()))
        && (beside == null || all.contains(beside));
  }

  /** For events and the docs. */
  public String describe() {
    return (owner == null ? "any class" : owner.replace('/', '.'))
        + "."
        + method
        + (descriptor == null ? "(..)" : descriptor);
  }
}
