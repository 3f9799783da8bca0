package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.LibraryHooks;
import io.coordl.bridge.SpanSink;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedStore;
import io.coordl.store.KeptForms;
import io.coordl.store.PreparedStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which policy serves a batch, and what the other policies see of the call. */
class EpochEngineTest {
  private final List<String> seen = new ArrayList<>();

  private static EpochEngine.Decorator<String> policy(Set<String> serving, String name) {
    return next -> serving.contains(name) ? name : next.get();
  }

  @ParameterizedTest
  @CsvSource({
    "staged kept own, staged, kept",
    "kept own, kept, kept",
    "staged own, staged, staged",
    "own, own, own"
  })
  void stagedComesBeforeKeptUnlessWholeBatchesAreKept(
      String serving, String ofSamples, String ofBatches) throws Exception {
    Set<String> all = Set.of(serving.split(" "));
    for (boolean keepsBatches : new boolean[] {false, true}) {
      String chosen =
          EpochEngine.choose(
              keepsBatches,
              next -> "prefetched " + next.get(),
              policy(all, "staged"),
              policy(all, "kept"),
              () -> "own");
      assertThat(chosen).isEqualTo("prefetched " + (keepsBatches ? ofBatches : ofSamples));
    }
  }

  /** A policy that answers with {@code batch}, or lets the method run if that is null. */
  private LibraryHooks answering(String name, Object batch) {
    return (interceptor, type, method, self, arguments) -> {
      seen.add(name);
      return new InterceptedCall(batch) {
        @Override
        public Object result(Object own) {
          seen.add(name + " result");
          return super.result(own);
        }

        @Override
        public void failed() {
          seen.add(name + " failed");
        }
      };
    };
  }

  private InterceptedCall call(LibraryHooks prefetched, LibraryHooks staged, LibraryHooks kept) {
    return new PolicyHooks(prefetched, staged, kept)
        .enter("", Object.class, "next", this, new Object[0]);
  }

  @Test
  void policyWithTheBatchHidesTheCallFromInnerPolicies() {
    InterceptedCall call =
        call(
            answering("prefetched", null),
            answering("staged", "batch"),
            answering("kept", "other"));
    assertThat(call.replaced()).isTrue();
    assertThat(call.result(null)).isEqualTo("batch");
    assertThat(seen).containsExactly("prefetched", "staged", "staged result", "prefetched result");
  }

  @Test
  void ifNoPolicyHasTheBatchTheProgramsOwnCallRuns() {
    InterceptedCall call = call(null, answering("staged", null), answering("kept", null));
    assertThat(call.replaced()).isFalse();
    assertThat(call.thrown()).isNull();
    assertThat(call.result("own")).isEqualTo("own");
    assertThat(seen).containsExactly("staged", "kept", "kept result", "staged result");
    assertThat(call(null, null, null)).isNull();
  }

  @Test
  void exceptionOfTheProgramEndsTheOuterCalls() {
    RuntimeException thrown = new IllegalStateException("of the program");
    LibraryHooks throwing =
        (interceptor, type, method, self, of) -> InterceptedCall.throwing(thrown);
    assertThat(call(null, answering("staged", null), throwing).thrown()).isSameAs(thrown);
    call(null, answering("outer", null), answering("inner", null)).failed();
    assertThat(seen)
        .containsExactly(
            "staged", "staged failed", "outer", "inner", "inner failed", "outer failed");
  }

  /**
   * With {@code auto}, which caches nothing yet: if only the items of batches can be cached, these
   * need not wait for the next epoch. They wait if one data set's batches can be cached.
   */
  @ParameterizedTest
  @CsvSource({
    "false, leave, true",
    "false, keep, false",
    "false, leave keep, false",
    "true, '', false"
  })
  void dataSetsAreExaminedBeforeTheirBatchesAreCached(
      boolean keeps, String found, boolean leaves, @TempDir Path directory) throws IOException {
    try (ArenaStore arena =
        ArenaStore.openProcess(directory, ByteBudget.parse("2m"), sentence -> {})) {
      PreparedStore store = new PreparedStore(arena, new KeptForms());
      DecodedStore items = store.ofItems(path -> false, () -> keeps);
      Prepared prepared =
          new Prepared(store, items, Set.of(), () -> keeps, () -> 10, (what, why) -> {});
      Services services = Services.builder(sentence -> {}).prepared(prepared).build();
      EpochEngine engine = new EpochEngine("a library", services, PreparedSamplesTest.analyzer());
      assertThat(engine.wantsReports()).isEqualTo(!keeps);
      for (String one : List.of("leave", "keep")) {
        if (found.contains(one)) {
          engine.reportBatches(one.equals("leave"));
        }
      }
      assertThat(prepared.cachesNone()).isEqualTo(leaves);
    }
  }

  @Test
  void ifAPolicyFailsTheNextServesTheCall() {
    List<String> faults = new ArrayList<>();
    Bridge.install(SpanSink.NONE, ItemSource.NONE, (where, cause, tripped) -> faults.add(where));
    try {
      LibraryHooks failing =
          (interceptor, type, method, self, arguments) -> {
            throw new IllegalStateException("of the agent");
          };
      assertThat(call(failing, failing, answering("kept", "batch")).result(null))
          .isEqualTo("batch");
      assertThat(faults).containsExactly("java.lang.Object.next", "java.lang.Object.next");
    } finally {
      Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    }
  }
}
