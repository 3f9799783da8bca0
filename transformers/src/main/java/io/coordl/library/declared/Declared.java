package io.coordl.library.declared;

import io.coordl.bridge.SpanKind;
import io.coordl.library.Library;
import io.coordl.library.LibraryArgument;
import io.coordl.transformers.hook.HookRule;
import io.coordl.transformers.hook.HookTable;
import io.coordl.transformers.hook.Policy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Loops that the user declares: {@code batch=my.Loader#next} names the method that returns the next
 * batch, and {@code step=my.Trainer#step} the method that trains on it. The object whose method
 * returns the batches is the data of an epoch. The epoch ends when {@code hasNext()} returns false
 * or {@code reset()} is called, if the object's class declares them. Otherwise it ends when the
 * loop requests a batch from another object. Because that object may belong to an evaluation that
 * only interrupts the epoch, the epoch is written later: when the loop requests a batch from a
 * third object, or when the job ends.
 */
public final class Declared implements Library {
  static final String NAME = "declared loop";

  private static final String FOLDER = "io.coordl.library.declared";
  private static final String BATCH = "batch";
  private static final String STEP = "step";
  private static final String ITEM = "item";

  private final List<DeclaredMethod> batches = new ArrayList<>();
  private final List<DeclaredMethod> steps = new ArrayList<>();
  private final List<DeclaredMethod> items = new ArrayList<>();

  private final Set<String> appliedRules = ConcurrentHashMap.newKeySet();

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<String> packages() {
    return List.of();
  }

  @Override
  public List<LibraryArgument> arguments() {
    return List.of(
        new LibraryArgument(
            BATCH,
            DeclaredMethod.EXPECTED,
            "the method that returns the next batch, in a training loop of your own or of any"
                + " library; needs step="),
        new LibraryArgument(
            STEP, DeclaredMethod.EXPECTED, "the method that trains on a batch; needs batch="),
        new LibraryArgument(
            ITEM,
            DeclaredMethod.EXPECTED,
            "a method that loads one sample, on any thread; the files that it reads are items"));
  }

  @Override
  public void accept(String key, String value) {
    DeclaredMethod method = DeclaredMethod.parse(key, value);
    switch (key) {
      case BATCH -> batches.add(method);
      case STEP -> steps.add(method);
      default -> items.add(method);
    }
  }

  @Override
  public List<String> remarks() {
    if (batches.isEmpty()) {
      return needing(BATCH, steps);
    }
    return steps.isEmpty() ? needing(STEP, batches) : List.of();
  }

  private static List<String> needing(String missing, List<DeclaredMethod> methods) {
    return methods.stream()
        .map(method -> method.argument() + " observes nothing without " + missing + "=CLASS#METHOD")
        .toList();
  }

  @Override
  public List<HookRule> hooks() {
    HookTable table = new HookTable(NAME, FOLDER, "any version");
    for (DeclaredMethod batch : batches) {
      table.span(SpanKind.TAKE, batch.owner(), batch.method());
      table.ifDeclared(SpanKind.ASK, batch.owner(), "hasNext()Z");
      table.ifDeclared(SpanKind.EPOCH, batch.owner(), "reset()V");
    }
    for (DeclaredMethod step : steps) {
      table.span(SpanKind.UPDATE, step.owner(), step.method());
    }
    for (DeclaredMethod item : items) {
      table.span(SpanKind.SAMPLE, item.owner(), item.method());
    }
    table.by("DeclaredBatches", Policy.PREPARED, Policy.PREFETCH);
    for (DeclaredMethod batch : batches) {
      table.intercept(batch.owner(), batch.method());
    }
    return table.rules();
  }

  @Override
  public void applied(String rule) {
    appliedRules.add(rule);
  }

  @Override
  public List<String> unused() {
    List<String> unused = new ArrayList<>();
    for (List<DeclaredMethod> methods : List.of(batches, steps, items)) {
      for (DeclaredMethod method : methods) {
        if (!appliedRules.contains(method.rule())) {
          unused.add(
              method.argument()
                  + " did nothing: the program loaded no class "
                  + method.className()
                  + " that declares such a method with a body");
        }
      }
    }
    return unused;
  }

  @Override
  public Map<String, String> verdicts() {
    Map<String, String> verdicts = new HashMap<>();
    for (DeclaredMethod batch : batches) {
      verdicts.merge(
          batch.className(),
          FOLDER + ".ProvenLoop " + batch.method(),
          (before, added) -> before + " " + batch.method());
    }
    return verdicts;
  }

  @Override
  public String kept() {
    return batches.isEmpty() ? "" : "the method declared with batch=";
  }

  @Override
  public boolean isCoordinated() {
    return false;
  }

  @Override
  public boolean preparesAhead() {
    return false;
  }

  @Override
  public boolean isPrefetched() {
    return false;
  }
}
