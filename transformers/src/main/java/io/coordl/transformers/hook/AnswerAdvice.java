package io.coordl.transformers.hook;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.LibraryCall;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.implementation.bytecode.assign.Assigner.Typing;
import org.jspecify.annotations.Nullable;

/** Asks for an answer before a method runs, and skips it if there is one; inlined. */
final class AnswerAdvice {
  private AnswerAdvice() {}

  @SuppressWarnings({"UnusedVariable", "ParameterReassignment"}) // A local is kept by assigning it.
  @Advice.OnMethodEnter(suppress = Throwable.class, skipOn = Advice.OnNonDefaultValue.class)
  static boolean enter(
      @Answer String answer,
      @Advice.Origin Class<?> declaring,
      @Advice.Origin("#m") String method,
      @Advice.This(optional = true) @Nullable Object self,
      @Advice.AllArguments Object[] arguments,
      @Advice.Local("call") @Nullable LibraryCall call) {
    call = self == null ? null : Bridge.enter(answer, declaring, method, self, arguments);
    return call != null && call.answered();
  }

  @SuppressWarnings({"UnusedVariable", "ParameterReassignment"}) // Assigning is how advice returns.
  @Advice.OnMethodExit(suppress = Throwable.class, onThrowable = Throwable.class)
  static void exit(
      @Advice.Local("call") @Nullable LibraryCall call,
      @Advice.Return(readOnly = false, typing = Typing.DYNAMIC) @Nullable Object result,
      @Advice.Thrown(readOnly = false, typing = Typing.DYNAMIC) @Nullable Throwable thrown) {
    if (call == null) {
      return;
    }
    if (thrown != null) {
      Bridge.failed(call); // What it threw is the program's.
      return;
    }
    thrown = Bridge.thrown(call);
    if (thrown == null) {
      result = Bridge.leave(call, result);
    }
  }
}
