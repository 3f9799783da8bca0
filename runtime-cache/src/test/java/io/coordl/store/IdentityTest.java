package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.items.ItemFilter;
import io.coordl.items.ItemNames;
import io.coordl.peers.hosts.TwoHosts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The identity rule for all stores of files. However a file is replaced, the program reads the new
 * file, even if size and modification time are equal. An operation that only changes the change
 * time does not invalidate the entry.
 */
class IdentityTest {
  private static final FileTime TIME = FileTime.fromMillis(1_700_000_000_000L);

  @TempDir Path directory;
  @TempDir Path arenas;
  private final List<ArenaStore> opened = new ArrayList<>();
  private @Nullable TwoHosts hosts;

  @AfterEach
  void close() {
    TwoHosts two = hosts;
    if (two == null) {
      opened.forEach(ArenaStore::close);
    } else {
      two.close(); // Also closes the hosts' stores.
    }
  }

  /** A change of the file between two epochs. */
  enum Change {
    RENAMED_OVER(true) {
      @Override
      Path make(Path file) throws IOException {
        Path other = write(file.resolveSibling("other"), file, 1);
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        return file;
      }
    },
    SWAPPED(true) {
      @Override
      Path make(Path file) throws IOException {
        Path twin = file.resolveSibling("twin"); // The twin was also read.
        Path aside = file.resolveSibling("aside");
        Files.move(file, aside);
        Files.move(twin, file);
        Files.move(aside, twin);
        return file;
      }
    },
    LINK_SET_TO_ANOTHER(true) {
      @Override
      Path make(Path file) throws IOException {
        Path v2 = Files.createDirectory(file.getParent().resolveSibling("v2"));
        write(v2.resolve(file.getFileName()), file, 1);
        Path current = file.getParent().resolveSibling("cur");
        Files.delete(current);
        Files.createSymbolicLink(current, v2);
        return file;
      }
    },
    REWRITTEN_AND_DATED(true) {
      @Override
      Path make(Path file) throws IOException {
        return write(file, file, 1);
      }
    },
    MODE(false) {
      @Override
      Path make(Path file) throws IOException {
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r-x"));
      }
    },
    HARD_LINK(false) {
      @Override
      Path make(Path file) throws IOException {
        Files.createLink(file.resolveSibling("linked"), file);
        return file;
      }
    },
    RENAMED(false) {
      @Override
      Path make(Path file) throws IOException {
        return Files.move(file, file.resolveSibling("renamed"));
      }
    };

    /** Whether the path that is read next has different bytes. */
    final boolean ofBytes;

    Change(boolean ofBytes) {
      this.ofBytes = ofBytes;
    }

    /** Returns the path that is read next. */
    abstract Path make(Path file) throws IOException;
  }

  /** Writes a file with the size and time of {@code like}, but other bytes. */
  private static Path write(Path file, Path like, int more) throws IOException {
    byte[] bytes = Files.readAllBytes(like);
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (bytes[i] + more);
    }
    Files.write(file, bytes);
    return Files.setLastModifiedTime(file, TIME);
  }

  /** One of the stores, as a job sees it. */
  private interface Job {
    /** Returns the bytes that the job reads for a file. */
    byte[] read(Path file) throws IOException;

    /** Whether the last read went to storage. */
    boolean readStorage();
  }

  enum Store {
    RAW,
    RAW_OF_A_HOST,
    RAW_OF_ANOTHER_JOB,
    RANDOM_ACCESS,
    BLOCKS,
    BELOW_A_ROOT,
    HOSTS,
    TWO_HOSTS,
    DECODED,
    DECODED_BELOW_A_ROOT;

    int length() {
      return this == BLOCKS ? MinioCache.WHOLE_LIMIT + 1000 : 5000;
    }

    /** Whether a file with another name is another item, as it is among hosts. */
    boolean knowsPaths() {
      return switch (this) {
        case BELOW_A_ROOT, HOSTS, TWO_HOSTS, DECODED_BELOW_A_ROOT -> true;
        default -> false;
      };
    }
  }

  private ArenaStore process() {
    ArenaStore store = ArenaStore.openProcess(arenas, ByteBudget.parse("64m"), line -> {});
    opened.add(store);
    return store;
  }

  private ArenaStore host(String group) throws IOException {
    ArenaStore store = ArenaStore.openHost(arenas, group, ByteBudget.parse("64m"), line -> {});
    opened.add(store);
    return store;
  }

  /** Returns the job that reads before the change, then the one that reads after it. */
  private List<Job> jobs(Store store) throws IOException {
    ItemFilter here = path -> true;
    ItemNames below = ItemNames.below(directory.toString(), null, line -> {});
    String group = "identity-" + UUID.randomUUID();
    return switch (store) {
      case RAW, BLOCKS -> same(new RawJob(new MinioCache(process(), here), false));
      case RAW_OF_A_HOST -> same(new RawJob(new MinioCache(host(group), here), false));
      case RAW_OF_ANOTHER_JOB -> {
        ArenaStore shared = host(group); // A JVM opens it only once.
        yield List.of(
            new RawJob(new MinioCache(shared, here), false),
            new RawJob(new MinioCache(shared, here), false));
      }
      case RANDOM_ACCESS -> same(new RawJob(new MinioCache(process(), here), true));
      case BELOW_A_ROOT -> same(new RawJob(new MinioCache(process(), known(below)), false));
      case HOSTS -> {
        ArenaStore remote = process(); // Stands for the memory of other hosts, with the same keys.
        yield List.of(
            new RawJob(new MinioCache(remote, process(), known(below.amongHosts())), false),
            new RawJob(new MinioCache(remote, process(), known(below.amongHosts())), false));
      }
      case TWO_HOSTS -> {
        TwoHosts two = new TwoHosts(arenas);
        hosts = two;
        opened.addAll(two.stores());
        ItemFilter filter = known(below.amongHosts());
        yield List.of(
            new RawJob(new MinioCache(two.engine(0), opened.get(0), filter), false),
            new RawJob(new MinioCache(two.engine(1), opened.get(1), filter), false));
      }
      case DECODED -> same(new DecodedJob(new DecodedStore(process(), here)));
      case DECODED_BELOW_A_ROOT -> same(new DecodedJob(new DecodedStore(process(), known(below))));
    };
  }

  private static List<Job> same(Job job) {
    return List.of(job, job);
  }

  private static ItemFilter known(ItemNames names) {
    return ItemFilter.inferred(() -> true, names);
  }

  private static final class RawJob implements Job {
    private final MinioCache cache;
    private final boolean randomAccess;
    private boolean readStorage;

    RawJob(MinioCache cache, boolean randomAccess) {
      this.cache = cache;
      this.randomAccess = randomAccess;
    }

    @Override
    public byte[] read(Path file) throws IOException {
      OpenItem item =
          randomAccess ? cache.openRandomAccess(file.toString()) : cache.open(file.toString());
      byte[] bytes = new byte[(int) item.size()];
      for (int done = 0; done < bytes.length; ) {
        done += item.read(done, bytes, done, bytes.length - done);
      }
      item.close();
      readStorage = item.origin() == Origin.STORAGE;
      return bytes;
    }

    @Override
    public boolean readStorage() {
      return readStorage;
    }
  }

  /** Its pixels are the file's bytes, each plus one. */
  private static final class DecodedJob implements Job {
    private static final DecodedForm FORM = DecodedForm.of("pixels");
    private final DecodedStore store;
    private boolean readStorage;

    DecodedJob(DecodedStore store) {
      this.store = store;
    }

    @Override
    public byte[] read(Path file) throws IOException {
      DecodedItem item = store.item(file.toString());
      ByteBuffer found = item.find(FORM);
      readStorage = found == null;
      byte[] pixels;
      if (found == null) {
        pixels = Files.readAllBytes(file);
        for (int i = 0; i < pixels.length; i++) {
          pixels[i]++;
        }
        item.put(FORM, pixels.length, target -> target.put(pixels));
      } else {
        pixels = Items.bytes(found);
      }
      byte[] bytes = pixels.clone();
      for (int i = 0; i < bytes.length; i++) {
        bytes[i]--;
      }
      return bytes;
    }

    @Override
    public boolean readStorage() {
      return readStorage;
    }
  }

  static Stream<Arguments> cases() {
    return Arrays.stream(Store.values())
        .flatMap(store -> Arrays.stream(Change.values()).map(to -> Arguments.of(store, to)));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theProgramReadsTheCurrentFile(Store store, Change change) throws IOException {
    Path v1 = Files.createDirectory(directory.resolve("v1"));
    Path current = Files.createSymbolicLink(directory.resolve("cur"), v1);
    Path file = Items.file(v1, "file", store.length());
    Files.setLastModifiedTime(file, TIME);
    write(v1.resolve("twin"), file, 7);
    Path named = current.resolve("file");
    List<Job> jobs = jobs(store);
    for (Path each : List.of(named, current.resolve("twin"))) {
      assertThat(jobs.get(0).read(each)).isEqualTo(Files.readAllBytes(each));
    }
    long kept = used();
    byte[] before = Files.readAllBytes(named);
    Items.laterThan(named);

    Path next = change.make(named);

    byte[] now = Files.readAllBytes(next);
    assertThat(Arrays.equals(now, before)).isEqualTo(!change.ofBytes);
    assertThat(Files.size(next)).isEqualTo(store.length());
    assertThat(Files.getLastModifiedTime(next)).isEqualTo(TIME);
    Job job = jobs.get(1);
    assertThat(job.read(next)).isEqualTo(now);
    assertThat(job.read(next)).isEqualTo(now);
    assertThat(job.readStorage()).as("read from storage the second time").isFalse();
    boolean stays = !change.ofBytes && !(change == Change.RENAMED && store.knowsPaths());
    if (stays) {
      assertThat(used() - kept).as("bytes more than before").isLessThan(store.length());
    }
  }

  private long used() {
    return opened.stream().mapToLong(ArenaStore::used).sum();
  }
}
