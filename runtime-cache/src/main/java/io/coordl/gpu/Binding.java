package io.coordl.gpu;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.coordl.gpu.Natives.UnavailableException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Binds the driver's libraries: through the JavaCPP presets if the user named their directory,
 * otherwise through java.lang.foreign (JDK 22 or later) or the program's JNA, which need only the
 * driver. The program's own presets come last, and only if the user requested GPUs, because loading
 * them writes files and needs CUDA's runtime library. Safe for concurrent use.
 */
public final class Binding {
  private static final String NONE = "none";
  private static final Pattern CUDA = Pattern.compile("/\\S.*/libcuda\\.so[^/]*$");
  private static final Pattern RANGES = Pattern.compile("/\\S.*/libnv(ToolsExt|tx3interop)[^/]*$");

  private final String presets;
  private final @Nullable ClassLoader program;
  private final boolean requested;
  private @Nullable ClassLoader ownPresets;

  /**
   * Loads nothing yet.
   *
   * @param presets directory with the presets' jars, or {@code none}
   * @param program class loader of the program's libraries
   * @param requested whether the user requested GPUs
   */
  public Binding(String presets, @Nullable ClassLoader program, boolean requested) {
    this.presets = presets;
    this.program = program;
    this.requested = requested;
  }

  /**
   * Whether this machine may have a driver, judged by a few files, without native code. The dynamic
   * linker searches the directories of {@code libraryPath} first.
   */
  public static boolean isDriverInstalled(@Nullable String libraryPath) {
    return new File("/proc/driver/nvidia/version").exists()
        || new File("/dev/nvidiactl").exists() // Sandboxes like gVisor have only this.
        || new File("/usr/lib/wsl/lib/" + Nvml.LIBRARY).exists()
        || (libraryPath != null
            && Arrays.stream(libraryPath.split(File.pathSeparator, -1))
                .filter(directory -> !directory.isEmpty())
                .anyMatch(directory -> new File(directory, Nvml.LIBRARY).exists()));
  }

  /** Binds a library of the driver; {@code type} is the presets' class for it. */
  synchronized Natives open(String library, String type) throws UnavailableException {
    if (!presets.equals(NONE)) {
      return first(library, List.of(() -> new PresetNatives(ownPresets(), type)));
    }
    Callable<Natives> foreign = () -> new ForeignNatives(library);
    Callable<Natives> jna = () -> new JnaNatives(program, library, requested);
    return first(
        library,
        requested
            ? List.of(foreign, jna, () -> new PresetNatives(program, type))
            : List.of(foreign, jna));
  }

  /**
   * Whether the user requested GPUs, or this process has loaded CUDA; a job that uses GPUs loads it
   * first.
   */
  boolean isWanted() {
    return requested || !loaded(CUDA).isEmpty();
  }

  /**
   * Returns the paths of matching libraries that this process has loaded; empty if the system has
   * no such list.
   */
  private static Set<String> loaded(Pattern name) {
    Set<String> libraries = new LinkedHashSet<>();
    try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"), ISO_8859_1)) {
      mapped
          .map(name::matcher)
          .filter(Matcher::find)
          .forEach(match -> libraries.add(match.group()));
    } catch (IOException | UncheckedIOException e) {
      // Not Linux.
    }
    return libraries;
  }

  /**
   * Binds a library of NVTX: one that the program has loaded, under any name (PyTorch's natives for
   * CUDA include it), or one that the dynamic linker finds. The presets do not include NVTX.
   */
  Natives openRanges() throws UnavailableException {
    Set<String> libraries = loaded(RANGES);
    libraries.add("libnvToolsExt.so.1");
    libraries.add("libnvtx3interop.so.1"); // Its name since CUDA 12.9.
    return first(
        String.join(", ", libraries),
        libraries.stream()
            .flatMap(
                name ->
                    Stream.<Callable<Natives>>of(
                        () -> new ForeignNatives(name),
                        () -> new JnaNatives(program, name, requested)))
            .toList());
  }

  private static Natives first(String library, List<Callable<Natives>> bindings)
      throws UnavailableException {
    List<String> reasons = new ArrayList<>();
    boolean searched = false;
    for (Callable<Natives> binding : bindings) {
      try {
        return binding.call();
      } catch (VirtualMachineError e) {
        throw e;
      } catch (Exception | Error e) { // JNA throws plain errors.
        Throwable cause = UnavailableException.cause(e);
        // Thrown by java.lang.foreign and JNA if the dynamic linker finds nothing.
        boolean isNotFound =
            cause instanceof IllegalArgumentException || cause instanceof UnsatisfiedLinkError;
        boolean isMissingBinding =
            cause instanceof ClassNotFoundException || cause instanceof BindingUnavailableException;
        searched |= isNotFound;
        if (bindings.size() == 1 || !(isNotFound || isMissingBinding)) {
          reasons.add(UnavailableException.reason(cause));
        }
      }
    }
    if (!reasons.isEmpty()) {
      throw new UnavailableException(String.join("; ", reasons));
    }
    throw new UnavailableException(
        searched
            ? "the dynamic linker cannot find " + library
            : "Java "
                + Runtime.version().feature()
                + " needs JNA on the class path or gpu.presets=DIR to call native"
                + " code; Java 22 and later need neither");
  }

  /** Thrown if this JVM lacks one of the ways to call native code. */
  static final class BindingUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    BindingUnavailableException(String message) {
      super(message);
    }
  }

  private synchronized ClassLoader ownPresets() throws UnavailableException, IOException {
    ClassLoader known = ownPresets;
    if (known == null) {
      File[] jars = new File(presets).listFiles((directory, name) -> name.endsWith(".jar"));
      if (jars == null || jars.length == 0) {
        throw new UnavailableException("gpu.presets=" + presets + " has no jar files");
      }
      URL[] urls = new URL[jars.length];
      for (int i = 0; i < jars.length; i++) {
        urls[i] = jars[i].toURI().toURL();
      }
      known = new URLClassLoader("coordl-presets", urls, ClassLoader.getPlatformClassLoader());
      ownPresets = known;
    }
    return known;
  }
}
