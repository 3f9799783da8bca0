package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.io.File;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.Writer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import jdk.jfr.Recording;

/**
 * The agent opens files for writing through {@code OwnFiles}, which follows no link and waits for
 * no FIFO. The test finds the JDK calls in the class files that could open a file for writing;
 * classes with such calls are listed here, each with the reason why it is safe.
 */
@AnalyzeClasses(packages = "io.coordl", importOptions = ImportOption.DoNotIncludeTests.class)
final class WrittenFilesTest {
  /** Methods of these classes may open, create or move files, except those that match LOOKS. */
  private static final Set<String> STATIC =
      Set.of(Files.class.getName(), FileSystemProvider.class.getName());

  private static final String LOOKS =
      "(is|exists|notExists|size|read|lines|list|walk|find|probe|mismatch|get|newDirectoryStream"
          + "|newBufferedReader|newInputStream|check|installedProviders|delete).*";

  private static final String READS = "opens with \"r\", for reading";
  private static final String PROGRAM = "makes the program's own call";
  private static final String BUILD = "runs in the build";

  /** Classes with such calls, and the reason why each is safe. */
  private static final Map<String, String> EXPLAINED =
      Map.ofEntries(
          Map.entry("host.OwnFiles", "opens files for all others"),
          Map.entry(
              "host.SharedFile",
              "creates the file exclusively, or checks its owner and opens it with NOFOLLOW_LINKS"
                  + " for reading and writing; checks the file's identity again under the lock"),
          Map.entry(
              "peers.hosts.membership.DirectoryDiscovery",
              "writes a new file (CREATE_NEW) and renames it; opens other hosts' files with"
                  + " NOFOLLOW_LINKS for reading and writing, after checking their owner"),
          Map.entry("telemetry.live.Owner", "a new temporary file, which is never opened"),
          Map.entry("telemetry.recording.Status", "renames a file of OwnFiles to its final name"),
          Map.entry(
              "checkpoint.ModelFile",
              "renames what OwnFiles made; opens directories for reading, to force them"),
          Map.entry(
              "checkpoint.CheckpointDirectory",
              "makes new directories and empty files, which it never opens, renames them, and"
                  + " makes the link latest"),
          Map.entry("items.DirectReads", "opens a file of the data set for reading"),
          Map.entry("items.Manifest", READS),
          Map.entry(
              "items.ItemFile", READS + "; a new temporary file, which OwnFiles opens to write"),
          Map.entry("store.PrivateMemory", "a new temporary file, mode 0600, which OwnFiles opens"),
          Map.entry("items.FileState", READS),
          Map.entry("host.OwnDirectory", "makes a directory with mode 0700; removes it when empty"),
          Map.entry(
              "profile.Meeting", "new empty files, created exclusively, which it never opens"),
          Map.entry("bridge.ItemCursor", READS),
          Map.entry("bridge.OpenItem", READS),
          Map.entry("bridge.ItemRandomAccessFile", READS),
          Map.entry("bridge.FileReads", PROGRAM),
          Map.entry("bridge.FileWrites", PROGRAM),
          Map.entry(
              "library.dl4j.SavedModels",
              "the line in checkpointInfo.txt that CheckpointListener itself would append"),
          Map.entry("agent.packaging.NoDeserialization", BUILD),
          Map.entry("agent.packaging.Unreached", BUILD),
          Map.entry("agent.packaging.PlainLambdas", BUILD),
          Map.entry("telemetry.recording.EventDescription", BUILD));

  @ArchTest
  static void filesAreOpenedByOwnFilesOrForAListedReason(JavaClasses classes) {
    Map<String, Set<String>> found = new TreeMap<>();
    for (JavaClass type : classes) {
      for (JavaCodeUnitAccess<?> access : accesses(type)) {
        if (mayWrite(access)) {
          String name = type.getName().replaceAll("^io\\.coordl\\.|\\$.*", "");
          found
              .computeIfAbsent(name, key -> new TreeSet<>())
              .add(
                  access.getTargetOwner().getSimpleName()
                      + "."
                      + access.getName()
                      + " in "
                      + access.getOrigin().getName()
                      + ", line "
                      + access.getLineNumber());
        }
      }
    }
    assertThat(found).containsKey("host.OwnFiles");
    Set<String> unexplained = new TreeSet<>(found.keySet());
    unexplained.removeAll(EXPLAINED.keySet());
    assertThat(unexplained)
        .as("open files through io.coordl.host.OwnFiles, or list the reason here: %s", found)
        .isEmpty();
    Set<String> stale = new TreeSet<>(EXPLAINED.keySet());
    stale.removeAll(found.keySet());
    assertThat(stale).as("no longer open any file").isEmpty();
  }

  private static List<JavaCodeUnitAccess<?>> accesses(JavaClass type) {
    List<JavaCodeUnitAccess<?>> all = new ArrayList<>();
    Stream.of(
            type.getMethodCallsFromSelf(),
            type.getConstructorCallsFromSelf(),
            type.getMethodReferencesFromSelf(),
            type.getConstructorReferencesFromSelf())
        .forEach(all::addAll);
    return all;
  }

  private static boolean mayWrite(JavaCodeUnitAccess<?> access) {
    JavaClass owner = access.getTargetOwner();
    String name = access.getName();
    List<String> parameters =
        access.getTarget().getRawParameterTypes().stream().map(JavaClass::getName).toList();
    if (name.equals("<init>")) {
      boolean named =
          parameters.contains(File.class.getName())
              || (parameters.contains(String.class.getName())
                  && parameters.stream().noneMatch(type -> type.matches(".*(Stream|Writer)")));
      return named
          && (owner.isAssignableTo(OutputStream.class)
              || owner.isAssignableTo(Writer.class)
              || owner.isAssignableTo(RandomAccessFile.class)
              || owner.isAssignableTo(Formatter.class));
    }
    if (STATIC.contains(owner.getName())) {
      return !name.matches(LOOKS);
    }
    boolean channel =
        owner.isAssignableTo(FileChannel.class)
            || owner.isAssignableTo(AsynchronousFileChannel.class);
    return (channel && name.equals("open"))
        || (owner.isAssignableTo(File.class)
            && name.matches("createNewFile|createTempFile|mkdirs?|renameTo"))
        || (owner.isAssignableTo(Recording.class) && name.matches("dump|setDestination"))
        || (owner.isAssignableTo(ImageIO.class) && name.equals("write"));
  }
}
