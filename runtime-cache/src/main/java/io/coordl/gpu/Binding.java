package io.coordl.gpu;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.coordl.gpu.Natives.UnavailableException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How the driver's libraries are bound: by the JavaCPP presets where the user named them, else by
 * what needs no more than the driver: java.lang.foreign from JDK 22 on, JNA if the program has it.
 * The program's own presets come last, and only if the user asked for GPUs: to load them writes
 * files and needs CUDA's runtime library. What failed once is not tried again. Safe for concurrent
 * use.
 */
public final class Binding {
  private static final String NONE = "none";
  private static final Pattern CUDA = Pattern.compile("/\\S.*/libcuda\\.so[^/]*$");
  private static final Pattern RANGES = Pattern.compile("/\\S.*/libnv(ToolsExt|tx3interop)[^/]*$");

  private final String presets;
  private final @Nullable ClassLoader program;
  private final boolean asked;
  private @Nullable ClassLoader ownPresets;

  /**
   * Nothing is loaded yet.
   *
   * @param presets directory with the presets' jars, or none
   * @param program where the program's libraries are
   * @param asked whether the user asked for GPUs
   */
  public Binding(String presets, @Nullable ClassLoader program, boolean asked) {
    this.presets = presets;
    this.program = program;
    this.asked = asked;
  }

  /**
   * Whether this machine may have a driver: a look at a few files, no native code. The dynamic
   * linker looks into the directories of {@code libraryPath} first.
   */
  public static boolean isDriverThere(@Nullable String libraryPath) {
    if (new File("/proc/driver/nvidia/version").exists()
        || new File("/dev/nvidiactl").exists() // Sandboxes like gVisor have that alone.
        || new File("/usr/lib/wsl/lib/" + Nvml.LIBRARY).exists()) {
      return true;
    }
    if (libraryPath != null) {
      for (String directory : libraryPath.split(File.pathSeparator, -1)) {
        if (!directory.isEmpty() && new File(directory, Nvml.LIBRARY).exists()) {
          return true;
        }
      }
    }
    return false;
  }

  private interface Way {
    Natives open() throws ReflectiveOperationException, UnavailableException;
  }

  /** Binds a library of the driver; {@code type} is the presets' class for it. */
  synchronized Natives open(String library, String type) throws UnavailableException {
    if (!presets.equals(NONE)) {
      ClassLoader loader = ownPresets();
      return first(() -> new PresetNatives(loader, type));
    }
    Way foreign = () -> new ForeignNatives(library);
    Way jna = () -> new JnaNatives(program, library);
    return asked
        ? first(foreign, jna, () -> new PresetNatives(program, type))
        : first(foreign, jna);
  }

  /** Whether the user asked for GPUs, or this process has loaded CUDA by now: a job does first. */
  boolean isWanted() {
    return asked || !loaded(CUDA).isEmpty();
  }

  /** Libraries of this process, as paths; none where there is no such list. */
  private static Set<String> loaded(Pattern name) {
    Set<String> libraries = new LinkedHashSet<>();
    try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"), ISO_8859_1)) {
      mapped
          .map(name::matcher)
          .filter(Matcher::find)
          .forEach(found -> libraries.add(found.group()));
    } catch (IOException | UncheckedIOException e) {
      // Not Linux's.
    }
    return libraries;
  }

  /**
   * Binds a library of NVTX: one that the program has loaded, under whatever name (PyTorch's
   * natives for CUDA bring it), or one that the dynamic linker finds. The presets have none.
   */
  Natives openRanges() throws UnavailableException {
    Set<String> libraries = loaded(RANGES);
    libraries.add("libnvToolsExt.so.1");
    libraries.add("libnvtx3interop.so.1"); // Its name from CUDA 12.9 on.
    return first(
        libraries.stream()
            .flatMap(
                name ->
                    Stream.<Way>of(
                        () -> new ForeignNatives(name), () -> new JnaNatives(program, name)))
            .toArray(Way[]::new));
  }

  private static Natives first(Way... ways) throws UnavailableException {
    List<String> reasons = new ArrayList<>();
    for (Way way : ways) {
      try {
        return way.open();
      } catch (UnavailableException e) {
        reasons.add(String.valueOf(e.getMessage()));
      } catch (VirtualMachineError e) {
        throw e;
      } catch (Exception | Error e) { // JNA throws plain errors.
        reasons.add(reason(e));
      }
    }
    throw new UnavailableException(String.join("; ", reasons));
  }

  /** What lies below a failure of reflection, in one line. */
  static String reason(Throwable failure) {
    Throwable cause = failure;
    while ((cause instanceof InvocationTargetException
            || cause instanceof ExceptionInInitializerError)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = cause.toString();
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }

  private ClassLoader ownPresets() throws UnavailableException {
    ClassLoader known = ownPresets;
    if (known == null) {
      File[] jars = new File(presets).listFiles((directory, name) -> name.endsWith(".jar"));
      if (jars == null || jars.length == 0) {
        throw new UnavailableException("gpu.presets=" + presets + " has no jar files");
      }
      URL[] urls = new URL[jars.length];
      try {
        for (int i = 0; i < jars.length; i++) {
          urls[i] = jars[i].toURI().toURL();
        }
      } catch (MalformedURLException e) {
        throw new UnavailableException("gpu.presets=" + presets + ": " + e.getMessage());
      }
      known = new URLClassLoader("coordl-presets", urls, ClassLoader.getPlatformClassLoader());
      ownPresets = known;
    }
    return known;
  }

  /** Runs what was opened; any failure but of this JVM itself is said as an exception. */
  static int call(Call call, String function) throws UnavailableException {
    try {
      return call.run();
    } catch (UnavailableException | VirtualMachineError e) {
      throw e;
    } catch (Throwable t) {
      throw new UnavailableException(function + ": " + reason(t));
    }
  }

  /** A call by reflection or a method handle, which may throw anything. */
  interface Call {
    int run() throws Throwable;
  }
}
