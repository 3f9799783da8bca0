package io.coordl.transformers.hook;

import io.coordl.bridge.SpanKind;
import io.coordl.bridge.Spans;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner.Typing;
import org.jspecify.annotations.Nullable;

/** A span around a method; inlined, so it may refer to the bridge and the JDK only. */
final class SpanAdvice {
  private SpanAdvice() {}

  @Advice.OnMethodEnter(suppress = Throwable.class)
  static long enter(
      @Kind SpanKind kind,
      @Advice.This(optional = true, typing = Typing.DYNAMIC) @Nullable Object self) {
    return Spans.enter(kind, self);
  }

  @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
  static void exit(
      @Advice.Enter long token, @Advice.Return(typing = Typing.DYNAMIC) @Nullable Object result) {
    Spans.exit(token, result);
  }
}
