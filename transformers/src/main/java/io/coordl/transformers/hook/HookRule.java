package io.coordl.transformers.hook;

import io.coordl.bridge.SpanKind;
import io.coordl.transformers.classfile.ClassFile;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One rule: which methods to hook, and how.
 *
 * <p>A rule with an owner applies only to that class, whose method must exist, unless {@code
 * beside} makes that optional. A rule without an owner applies to every class that declares the
 * method. The descriptor names types of the library, so the rule finds user and framework classes
 * alike, without loading or walking supertypes, and matches no others.
 *
 * @param library library to which the types belong
 * @param owner internal name of the class; null for any
 * @param descriptor JVM descriptor; null for all overloads (only with an owner)
 * @param beside name and descriptor of another method ({@code next}) that the class must also
 *     declare with a body, for methods such as {@code hasNext()} whose own descriptor names no
 *     library type
 * @param provenOn library versions with which the rule was tested
 * @param interceptor set for INTERCEPT and RANDOM
 */
public record HookRule(
    String library,
    @Nullable String owner,
    String method,
    @Nullable String descriptor,
    @Nullable String beside,
    Weave weave,
    SpanKind kind,
    String provenOn,
    @Nullable Interceptor interceptor) {

  /**
   * An interceptor of calls.
   *
   * @param name name of the agent's class
   * @param policies the policies that require it
   */
  public record Interceptor(String name, List<Policy> policies) {}

  public enum Weave {
    /** Surrounds the method with a span. */
    SPAN,
    /** Wraps the returned iterable with timing if its class cannot be hooked itself. */
    TIMED_ITERABLE,
    /** Asks the runtime for a replacement first; the method runs only if there is none. */
    INTERCEPT,
    /** Makes the random generators that the method creates forkable; they draw the same values. */
    RANDOM
  }

  /** The string that the constant pool of every matching class contains. */
  String marker() {
    if (owner != null) {
      return owner;
    }
    return beside != null
        ? beside.substring(beside.indexOf('('))
        : Objects.requireNonNull(descriptor, method);
  }

  /**
   * Whether the rule applies to a declared method.
   *
   * @param all the class's methods with a body that rules may name, as name plus descriptor
   */
  boolean fits(ClassFile.Method declared, Set<String> all) {
    return method.equals(declared.name())
        && (descriptor == null || descriptor.equals(declared.descriptor()))
        && (beside == null || all.contains(beside));
  }

  /** Text form for events and the docs. */
  public String describe() {
    return (owner == null ? "any class" : owner.replace('/', '.'))
        + "."
        + method
        + (descriptor == null ? "(..)" : descriptor);
  }
}
