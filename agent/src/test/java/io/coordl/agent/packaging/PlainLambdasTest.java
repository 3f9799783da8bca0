package io.coordl.agent.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The generated classes do the same as the lambdas that they replace. */
class PlainLambdasTest {
  @TempDir Path classes;

  /** Lambdas and method references in many forms. */
  public static final class Forms {
    private final String name;

    Forms(String name) {
      this.name = name;
    }

    private String named(Object suffix) {
      return name + suffix;
    }

    private static long twice(int value) {
      return 2L * value;
    }

    private interface Greeter {
      String greet(String whom);

      default String greetAll(List<String> all) {
        StringBuilder greetings = new StringBuilder();
        all.forEach(one -> greetings.append(greet(one)));
        return greetings.toString();
      }
    }

    private static final class Nested {
      private static Supplier<String> of(Forms forms) {
        return () -> forms.name + "nested";
      }
    }

    /** Returns the result of each form. */
    public static List<Object> all() throws Exception {
      List<Object> results = new ArrayList<>();
      Forms forms = new Forms("f");
      long captured = 5;
      double other = 0.5;
      byte small = 3;
      Supplier<String> none = () -> "none";
      results.add(none.get());
      LongSupplier wide = () -> captured + small;
      results.add(wide.getAsLong());
      ToDoubleFunction<Integer> unboxed = value -> value * other + captured;
      results.add(unboxed.applyAsDouble(7));
      IntToLongFunction widened = Forms::twice;
      results.add(widened.applyAsLong(21));
      Function<Integer, Long> boxed = Forms::twice;
      results.add(boxed.apply(4));
      LongSupplier intMadeLong = results::size;
      results.add(intMadeLong.getAsLong());
      ToDoubleFunction<String> intMadeDouble = String::length;
      results.add(intMadeDouble.applyAsDouble("four"));
      Function<Object, String> bound = forms::named;
      results.add(bound.apply('c'));
      BiFunction<Forms, Object, String> unbound = Forms::named;
      results.add(unbound.apply(forms, 1));
      Function<String, Forms> constructed = Forms::new;
      results.add(constructed.apply("made").named(""));
      IntFunction<int[]> array = int[]::new;
      results.add(array.apply(3).length);
      IntBinaryOperator primitives = Math::max;
      results.add(primitives.applyAsInt(3, 9));
      Consumer<List<Object>> dropped = list -> list.add("added");
      dropped.accept(results);
      Consumer<String> ignoring = results::add;
      ignoring.accept("its result is not wanted");
      Function<List<String>, Integer> interfaceMethod = List::size;
      results.add(interfaceMethod.apply(List.of("a", "b")));
      Greeter greeter = whom -> "hello " + whom;
      results.add(greeter.greetAll(List.of("a", "b")));
      Callable<Integer> throwing = () -> Integer.parseInt("no number");
      try {
        results.add(throwing.call());
      } catch (NumberFormatException e) {
        results.add(e.getMessage());
      }
      Supplier<Supplier<String>> within = () -> () -> forms.name + captured;
      results.add(within.get().get());
      results.add(Nested.of(forms).get());
      Runnable twoInterfaces = (Runnable & java.io.Serializable) () -> results.add("serializable");
      twoInterfaces.run();
      results.add(Stream.of(3, 1, 2).sorted(Integer::compare).map(String::valueOf).toList());
      return results;
    }
  }

  /** Finds the rewritten classes before those of the test. */
  private final class Rewritten extends ClassLoader {
    Rewritten() {
      super(PlainLambdasTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        Path file = classes.resolve(name.replace('.', '/') + ".classdata");
        if (loaded != null || !Files.exists(file)) {
          return loaded != null ? loaded : super.loadClass(name, resolve);
        }
        try {
          byte[] bytes = Files.readAllBytes(file);
          return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
          throw new ClassNotFoundException(name, e);
        }
      }
    }
  }

  private void copy(Class<?> type) throws IOException {
    String path = type.getName().replace('.', '/');
    Path file = classes.resolve(path + ".classdata");
    Files.createDirectories(file.getParent());
    try (InputStream in = type.getClassLoader().getResourceAsStream(path + ".class")) {
      Files.copy(in, file);
    }
  }

  private long plainClasses() throws IOException {
    try (Stream<Path> files = Files.walk(classes)) {
      return files.filter(file -> file.toString().contains("$$Plain")).count();
    }
  }

  @Test
  void everyFormReturnsTheSame() throws Exception {
    // The nest host lists its members, so it must be rewritten, too.
    copy(PlainLambdasTest.class);
    copy(Forms.class);
    for (Class<?> nested : Forms.class.getDeclaredClasses()) {
      copy(nested);
    }
    PlainLambdas.main(new String[] {classes.toString(), "io/coordl/agent/packaging"});
    assertThat(plainClasses()).isGreaterThan(18);

    Method all = new Rewritten().loadClass(Forms.class.getName()).getMethod("all");
    assertThat(all.getDeclaringClass()).isNotEqualTo(Forms.class);
    assertThat(all.invoke(null)).isEqualTo(Forms.all());
  }
}
