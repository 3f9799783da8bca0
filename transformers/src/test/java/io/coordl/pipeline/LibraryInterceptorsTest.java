package io.coordl.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Device;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.loading.ByteArrayClassLoader;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An incompatible library is left alone, which is logged once per class. */
class LibraryInterceptorsTest {
  private static final String INTERCEPTOR = "io.coordl.library.djl.ImageInterceptor";
  private static final String FACTORY = "ai.djl.modality.cv.BufferedImageFactory";

  @TempDir Path arena;
  private final List<String> skipped = new ArrayList<>();
  private DecodedStore store;
  private LibraryInterceptors interceptors;

  @BeforeEach
  void open() {
    ArenaStore opened = ArenaStore.openProcess(arena, ByteBudget.parse("2m"), word -> {});
    store = new DecodedStore(opened, path -> true);
    interceptors =
        new LibraryInterceptors(
            Map.of(),
            Services.builder(word -> {}).decoded(store).build(),
            (interceptor, declaring, reason) -> skipped.add(declaring.getName() + ": " + reason));
  }

  @AfterEach
  void close() {
    store.close();
  }

  /** Returns a class with this name in a separate loader, without the rest of the library. */
  private static Class<?> alone(String name) {
    return new ByteBuddy()
        .subclass(Object.class)
        .name(name)
        .make()
        .load(new ClassLoader(null) {}, ClassLoadingStrategy.Default.WRAPPER)
        .getLoaded();
  }

  private Object call(Class<?> declaring) throws ReflectiveOperationException {
    Object self = declaring.getConstructor().newInstance();
    return interceptors.enter(
        INTERCEPTOR, declaring, "fromFile", self, new Object[] {arena.resolve("a.jpg")});
  }

  @Test
  void libraryWithoutItsTypesIsLeftAloneAndLoggedOnce() throws ReflectiveOperationException {
    Class<?> declaring = alone(FACTORY);
    assertThat(call(declaring)).isNull();
    assertThat(call(declaring)).isNull();
    assertThat(skipped).hasSize(1);
    assertThat(skipped.get(0)).startsWith(FACTORY + ": ").contains("ai/djl/");
  }

  /** The program uses the class without the part of the library that is intercepted. */
  @Test
  void aProgramWithoutTheAnchorIsLeftAloneInSilence() throws ReflectiveOperationException {
    interceptors =
        new LibraryInterceptors(
            Map.of(INTERCEPTOR, "ai.djl.NotThere"),
            Services.builder(word -> {}).decoded(store).build(),
            (interceptor, declaring, reason) -> skipped.add(reason));
    assertThat(call(alone(FACTORY))).isNull();
    assertThat(skipped).isEmpty();
  }

  @Test
  void eachLoaderOfTheProgramIsCheckedSeparately() throws ReflectiveOperationException {
    call(alone(FACTORY));
    call(alone(FACTORY));
    assertThat(skipped).hasSize(2);
  }

  /** Agent code, compiled against the real library. */
  public static class Caller {
    public static int call(Device device) {
      return device.getDeviceId();
    }
  }

  @Test
  void changedReturnTypeIsDetectedBeforeTheCall() throws Exception {
    Class<?> other =
        new ByteBuddy()
            .subclass(Object.class)
            .name(Device.class.getName())
            .defineMethod("getDeviceId", long.class, Visibility.PUBLIC)
            .intercept(FixedValue.value(1L))
            .make()
            .load(getClass().getClassLoader(), ClassLoadingStrategy.Default.CHILD_FIRST)
            .getLoaded();
    byte[] caller = ClassFileLocator.ForClassLoader.read(Caller.class);
    ClassLoader loader =
        new ByteArrayClassLoader.ChildFirst(
            other.getClassLoader(), Map.of(Caller.class.getName(), caller));

    Symbols.require(Caller.class);
    assertThatThrownBy(() -> Symbols.require(loader.loadClass(Caller.class.getName())))
        .isInstanceOf(NoSuchMethodException.class)
        .hasMessage(Device.class.getName() + ".getDeviceId()");
  }
}
