package io.coordl.items;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.coordl.bridge.OpenItem;
import io.coordl.bridge.Origin;
import io.coordl.store.ArenaStore;
import io.coordl.store.ByteBudget;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import io.coordl.store.DecodedStore;
import io.coordl.store.Items;
import io.coordl.store.MinioCache;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which files are the same item, on one host and across hosts. */
class ItemNamesTest {
  @TempDir Path directory;
  @TempDir Path arena;
  private final List<String> logged = new ArrayList<>();
  private Path here;
  private Path there;
  private Path manifest;
  private ArenaStore store;

  /** Two hosts, each with its own root of the data set; one store for both. */
  @BeforeEach
  void twoHosts() throws IOException {
    here = Files.createDirectories(directory.resolve("here/set"));
    there = Files.createDirectories(directory.resolve("there/deeper/set"));
    manifest = directory.resolve("MANIFEST");
    store = ArenaStore.openProcess(arena, ByteBudget.parse("32m"), logged::add);
  }

  @AfterEach
  void close() {
    store.close();
  }

  private MinioCache cache(Path root, boolean listed) {
    return new MinioCache(store, ItemFilter.inferred(() -> true, names(root, listed)));
  }

  /** Identifies files by content if {@code listed}, else by relative path, like declared copies. */
  private ItemNames names(Path root, boolean listed) {
    return listed
        ? ItemNames.below(root.toString(), manifest.toString(), logged::add)
        : ItemNames.below(root.toString(), null, logged::add).copies();
  }

  /** Creates a file with a time in whole microseconds, the precision that JDK 17 copies. */
  private Path file(String name, int length) throws IOException {
    Path file = here.resolve(name);
    Files.createDirectories(file.getParent());
    Items.file(file.getParent(), file.getFileName().toString(), length);
    long micros = Files.getLastModifiedTime(file).to(TimeUnit.MICROSECONDS);
    return Files.setLastModifiedTime(file, FileTime.from(micros, TimeUnit.MICROSECONDS));
  }

  private Path copy(Path file) throws IOException {
    Path copy = there.resolve(here.relativize(file).toString());
    Files.createDirectories(copy.getParent());
    return Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
  }

  private static void date(Path file, long second) throws IOException {
    Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(second)));
  }

  private static String sum(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Writes a manifest of the current files, newer than all of them. */
  private void list(Path... files) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (Path file : files) {
      Path root = file.startsWith(here) ? here : there;
      lines.append(sum(Files.readAllBytes(file))).append("  ").append(root.relativize(file));
      lines.append('\n');
    }
    listText(lines.toString(), files);
  }

  private void listText(String lines, Path... files) throws IOException {
    for (Path file : files) {
      Items.laterThan(file);
    }
    Files.writeString(manifest, lines);
  }

  private static boolean kept(MinioCache cache, Path file) throws IOException {
    byte[] expected = Files.readAllBytes(file);
    OpenItem item = cache.open(file.toString());
    if (item.content() != null) {
      assertThat(Items.bytes(item.content())).isEqualTo(expected);
    }
    item.close();
    return item.origin() == Origin.MEMORY;
  }

  // ---- by relative path

  @Test
  void aCopyUnderAnotherRootIsTheSameItem() throws IOException {
    Path file = file("train/a.jpg", 5000);
    Path copy = copy(file);
    assertThat(kept(cache(here, false), file)).isFalse();
    assertThat(kept(cache(there, false), copy)).isTrue();
    assertThat(logged).isEmpty();
  }

  @Test
  void theRootMayBeALinkOrItsTarget() throws IOException {
    Path file = file("a.jpg", 5000);
    Path link = Files.createSymbolicLink(directory.resolve("link"), here);
    assertThat(kept(cache(here, false), file)).isFalse();
    assertThat(kept(cache(link, false), link.resolve("a.jpg"))).isTrue();
    assertThat(kept(cache(link, false), file)).isTrue();
    assertThat(kept(cache(Path.of(here + "/./"), false), file)).isTrue();
  }

  @Test
  void anotherTimeSizeOrPathIsAnotherItem() throws IOException {
    Path file = file("a.jpg", 5000);
    Path copy = copy(file);
    kept(cache(here, false), file);
    date(copy, 1_000_000_000);
    assertThat(kept(cache(there, false), copy)).isFalse();
    Path moved = there.resolve("b.jpg");
    Files.copy(file, moved, StandardCopyOption.COPY_ATTRIBUTES);
    assertThat(kept(cache(there, false), moved)).isFalse();
  }

  @Test
  void filesOutsideTheRootAreIdentifiedByAbsolutePath() throws IOException {
    Path file = file("a.jpg", 5000);
    Path sibling = Files.createDirectories(directory.resolve("here/settle")).resolve("a.jpg");
    Files.copy(file, sibling, StandardCopyOption.COPY_ATTRIBUTES);
    MinioCache cache = cache(here, false);
    kept(cache, file);
    assertThat(kept(cache, sibling)).isFalse();
    assertThat(kept(cache(there, false), sibling)).isTrue();
  }

  @Test
  void aPathThatLeavesTheRootIsNotBelowIt() throws IOException {
    Path file = file("a.jpg", 5000);
    Path elsewhere = Files.createDirectories(directory.resolve("elsewhere/deep"));
    Files.write(elsewhere.resolveSibling("a.jpg"), new byte[5000]);
    Files.setLastModifiedTime(elsewhere.resolveSibling("a.jpg"), Files.getLastModifiedTime(file));
    Files.createSymbolicLink(here.resolve("link"), elsewhere);
    MinioCache cache = cache(here, false);
    kept(cache, file);
    Path up = Path.of(here + "/link/../a.jpg");
    assertThat(Files.readAllBytes(up)).isEqualTo(new byte[5000]);
    assertThat(kept(cache, up)).isFalse();
  }

  @Test
  void aCopyIsTheSameItemOnlyIfTheUserDeclaresIt() throws IOException {
    Path file = file("a.jpg", 5000);
    Path copy = copy(file);
    for (ItemNames names : List.of(ItemNames.HERE, ItemNames.HERE.amongHosts())) {
      assertThat(ItemFile.of(copy.toString(), names).entry(0))
          .isNotEqualTo(ItemFile.of(file.toString(), names).entry(0));
    }
    assertThat(below(there, copy).entry(0)).isNotEqualTo(below(here, file).entry(0));
    assertThat(ItemFile.of(copy.toString(), names(there, false)).entry(0))
        .isEqualTo(ItemFile.of(file.toString(), names(here, false)).entry(0));
  }

  private ItemFile below(Path root, Path file) {
    return ItemFile.of(file.toString(), ItemNames.below(root.toString(), null, logged::add));
  }

  /** Like a file on a server or in an image that is mounted in two places. */
  @Test
  void aSharedFileIsTheSameItemWhereverItIsMounted() throws IOException {
    Path file = file("a.jpg", 5000);
    Path mounted = Files.createSymbolicLink(directory.resolve("mounted"), here);
    ItemFile elsewhere = below(mounted, mounted.resolve("a.jpg"));
    assertThat(elsewhere.entry(0)).isEqualTo(below(here, file).entry(0));
    assertThat(elsewhere.stamp()).isEqualTo(below(here, file).stamp()).isNotZero();
    Path moved = Files.move(file, here.resolve("b.jpg"));
    assertThat(below(here, moved).entry(0)).isNotEqualTo(elsewhere.entry(0));
  }

  @Test
  void onOneHostAnItemIsIdentifiedByAnyPath() throws IOException {
    Path file = file("a.jpg", 5000);
    Path link = Files.createLink(here.resolve("b.jpg"), file);
    assertThat(ItemFile.of(link.toString(), ItemNames.HERE).key())
        .isEqualTo(ItemFile.of(file.toString(), ItemNames.HERE).key());
  }

  @Test
  void anInvalidRootIsLoggedAndAbsolutePathsCount() throws IOException {
    Path file = file("a.jpg", 5000);
    assertThat(kept(cache(file, false), file)).isFalse();
    assertThat(kept(cache(directory.resolve("missing"), false), file)).isTrue();
    assertThat(logged).hasSize(2).allMatch(line -> line.contains("is not a directory here"));
  }

  @Test
  void decodedItemsAreIdentifiedLikeRawOnes() throws IOException {
    Path file = file("a.jpg", 5000);
    Path copy = copy(file);
    DecodedForm form = DecodedForm.of("pixels");
    decoded(here, false).item(file.toString()).put(form, 3, target -> target.put(new byte[3]));
    assertThat(decoded(there, false).item(copy.toString()).find(form)).isNotNull();
    date(copy, 1_000_000_000);
    assertThat(decoded(there, false).item(copy.toString()).find(form)).isNull();
  }

  private DecodedStore decoded(Path root, boolean listed) {
    return new DecodedStore(store, ItemFilter.inferred(() -> true, names(root, listed)));
  }

  // ---- by content

  @Test
  void listedCopiesWithOtherTimesAreTheSameItem() throws IOException {
    Path file = file("train/a.jpg", 5000);
    Path copy = copy(file);
    date(copy, 1_000_000_000);
    list(file, copy);
    assertThat(kept(cache(here, true), file)).isFalse();
    assertThat(kept(cache(there, true), copy)).isTrue();
    assertThat(logged).isEmpty();
  }

  @Test
  void equalContentsAreOneItemAtAnyPath() throws IOException {
    Path file = file("a.jpg", 5000);
    Path twin = Files.copy(file, here.resolve("twin.jpg"));
    Path other = file("b.jpg", 5000);
    list(file, twin, other);
    MinioCache cache = cache(here, true);
    assertThat(kept(cache, file)).isFalse();
    assertThat(kept(cache, twin)).isTrue();
    assertThat(kept(cache, other)).isFalse();
  }

  @Test
  void aFileWrittenAfterTheManifestIsIdentifiedByItsPath() throws IOException {
    Path file = file("a.jpg", 5000);
    list(file);
    MinioCache cache = cache(here, true);
    kept(cache, file);
    Files.write(file, new byte[5000]);
    assertThat(kept(cache, file)).isFalse();
    assertThat(kept(cache, file)).isTrue();
    assertThat(logged).singleElement().asString().contains("was changed after");
  }

  /** {@code cp -p}, {@code tar x} and {@code mv} preserve old times. */
  @Test
  void aFileReplacedAfterTheManifestByAnOlderOneIsIdentifiedByItsPath() throws IOException {
    Path file = file("a.jpg", 5000);
    list(file);
    MinioCache cache = cache(here, true);
    kept(cache, file);
    Items.laterThan(manifest);
    Path other = Files.write(directory.resolve("other"), new byte[5000]);
    date(other, 1_000_000_000);
    Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    assertThat(kept(cache, file)).isFalse();
  }

  @Test
  void aManifestDatedInTheFutureIsNotTrusted() throws IOException {
    Path file = file("a.jpg", 5000);
    list(file);
    Files.setLastModifiedTime(
        manifest, FileTime.from(Instant.now().plusSeconds(TimeUnit.DAYS.toSeconds(1))));
    MinioCache cache = cache(here, true);
    kept(cache, file);
    Items.laterThan(manifest);
    Files.write(file, new byte[5000]);
    assertThat(kept(cache, file)).isFalse();
  }

  @Test
  void aTouchedManifestIsTrustedAgain() throws IOException {
    Path file = file("a.jpg", 5000);
    list(file);
    Items.laterThan(manifest);
    Path copy = copy(file);
    date(copy, 1_000_000_000);
    assertThat(kept(cache(here, true), file)).isFalse();
    assertThat(kept(cache(there, true), copy)).isFalse(); // Newer than the manifest.
    Items.laterThan(copy);
    Files.setLastModifiedTime(manifest, FileTime.from(Instant.now()));
    assertThat(kept(cache(there, true), copy)).isTrue();
  }

  /**
   * The file was hashed while it was being written, or was copied to where the manifest lists other
   * data: it is older than the manifest, but does not match it.
   */
  @Test
  void aWrongLineNeverServesWrongBytes() throws IOException {
    Path file = file("a.jpg", 5000);
    Path wrong = there.resolve("a.jpg");
    Files.write(wrong, new byte[5000]);
    list(file);
    Items.laterThan(wrong);
    Files.setLastModifiedTime(manifest, FileTime.from(Instant.now()));
    MinioCache other = cache(there, true);
    OpenItem first = other.open(wrong.toString());
    assertThat(first.served()).isFalse(); // The program reads its own file.
    assertThat(logged).singleElement().asString().contains("does not match");
    assertThat(kept(other, wrong)).isFalse();
    assertThat(kept(other, wrong)).isTrue();
    assertThat(kept(cache(here, true), file)).isFalse();
    assertThat(logged).hasSize(1);
  }

  @Test
  void aWrongLineForAnOpenFileNeverServesWrongBytes() throws IOException {
    Path file = file("a.jpg", 5000);
    listText("ab".repeat(32) + "  a.jpg\n", file);
    OpenItem item = cache(here, true).openRandomAccess(file.toString());
    byte[] bytes = new byte[5000];
    int done = 0;
    while (done < bytes.length) {
      done += item.read(done, bytes, done, bytes.length - done);
    }
    item.close();
    assertThat(bytes).isEqualTo(Files.readAllBytes(file));
    assertThat(store.items()).isZero();
  }

  @Test
  void decodedItemsOfAWronglyListedFileAreNotCached() throws IOException {
    Path file = file("a.jpg", 5000);
    listText("ab".repeat(32) + "  a.jpg\n", file);
    ItemNames names = ItemNames.below(here.toString(), manifest.toString(), logged::add);
    ItemFilter filter = ItemFilter.inferred(() -> true, names);
    DecodedItem item = new DecodedStore(store, filter).item(file.toString());
    assertThat(new MinioCache(store, filter).open(file.toString()).served()).isFalse();
    item.put(DecodedForm.of("pixels"), 3, target -> target.put(new byte[3]));
    assertThat(item.find(DecodedForm.of("pixels"))).isNull();
  }

  @Test
  void aManifestThatIsWrongTooOftenIsNoLongerTrusted() throws IOException {
    StringBuilder lines = new StringBuilder();
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < Manifest.MAX_VOIDED + 1; i++) {
      files.add(file("f" + i, 100 + i % 7));
      lines.append("ab".repeat(32)).append("  f").append(i).append('\n');
    }
    Path right = file("right", 100);
    lines.append(sum(Files.readAllBytes(right))).append("  right\n");
    listText(lines.toString(), right);
    ItemNames names = ItemNames.below(here.toString(), manifest.toString(), logged::add);
    MinioCache cache = new MinioCache(store, ItemFilter.inferred(() -> true, names));
    assertThat(ItemFile.of(right.toString(), names).name().listed()).isNotNull();
    for (Path file : files) {
      cache.open(file.toString()).close();
    }
    assertThat(ItemFile.of(right.toString(), names).name().listed()).isNull();
    assertThat(logged).hasSize(2).last().asString().contains("wrong about more than 1000 files");
  }

  @Test
  void largeFilesAreIdentifiedByContentToo() throws IOException {
    Path file = file("large", MinioCache.WHOLE_LIMIT + 10);
    Path copy = copy(file);
    date(copy, 1_000_000_000);
    list(file, copy);
    readAll(cache(here, true), file);
    assertThat(readAll(cache(there, true), copy)).isTrue();
  }

  private static boolean readAll(MinioCache cache, Path file) throws IOException {
    OpenItem item = cache.open(file.toString());
    byte[] bytes = new byte[(int) item.size()];
    int done = 0;
    while (done < bytes.length) {
      done += item.read(done, bytes, done, bytes.length - done);
    }
    item.close();
    assertThat(bytes).isEqualTo(Files.readAllBytes(file));
    return item.origin() == Origin.MEMORY;
  }

  // ---- manifest format

  private Manifest.Line line(String name) {
    ItemNames names = ItemNames.below(here.toString(), manifest.toString(), logged::add);
    ItemName known = names.of(here + "/" + name, new FileState(1, 0, 0, 1, 1));
    return known == null ? null : known.listed();
  }

  @Test
  void namesAreParsedAsSha256sumWritesThem() throws IOException {
    String text = "0123456789abcdef".repeat(4);
    String lines =
        """
        # by sha256sum
        S  plain
        S *binary
        S  ./below/here
        S  two  blanks and more
        S   blank
        \\S  back\\\\slash
        \\S *new\\nline
        \\S  carriage\\rreturn
        S  ROOT/absolute
        """
            .replace("S", text)
            .replace("ROOT", here.toString());
    List<String> names =
        List.of(
            "plain",
            "binary",
            "below/here",
            "two  blanks and more",
            " blank",
            "back\\slash",
            "new\nline",
            "carriage\rreturn",
            "absolute");
    for (String name : names) {
      Path file = file(name, 1);
      date(file, 1_000_000_000);
    }
    listText(lines, here.resolve("absolute"));
    for (String name : names) {
      assertThat(line(name)).as(name).isNotNull();
      assertThat(line(name).content()).isEqualTo("sha256:" + text.substring(0, 32));
    }
    assertThat(line("missing")).isNull();
    assertThat(logged).isEmpty();
  }

  @Test
  void badLinesAreLoggedInOneSentenceAndOthersAreUsed() throws IOException {
    Path good = file("good", 10);
    Path again = file("again", 10);
    Path twice = file("twice", 10);
    String sum = sum(Files.readAllBytes(good));
    String other = "f".repeat(64);
    String lines =
        String.join(
            "\n",
            sum + "  good",
            "",
            "no sum at all",
            sum.substring(1) + "  short",
            sum.replace(sum.charAt(5), 'x') + "  nohex",
            sum + " good",
            sum + "  ",
            sum + "  ../good",
            sum + "  /elsewhere/good",
            sum + "  windows\r",
            "\\" + sum + "  wrong\\escape",
            "\\" + sum + "  cut\\",
            sum + "  " + "long/".repeat(2000),
            sum + "  again",
            sum + "  again",
            sum + "  twice",
            other + "  twice",
            sum + "  cut off with");
    listText(lines, good, again, twice);
    ItemNames names = ItemNames.below(here.toString(), manifest.toString(), logged::add);
    assertThat(ItemFile.of(good.toString(), names).name().listed()).isNotNull();
    assertThat(ItemFile.of(again.toString(), names).name().listed()).isNotNull();
    assertThat(ItemFile.of(twice.toString(), names).name().listed()).isNull();
    assertThat(logged)
        .singleElement()
        .asString()
        .contains(": 14 of 18 lines (first: line 2) do not name a file");
  }

  @Test
  void aListedFileWithALaterChangeTimeIsNotTrusted() throws IOException {
    Path file = file("a.jpg", 5000);
    list(file);
    ItemNames names = names(here, true);
    FileState listed = FileState.of(file.toString());
    assertThat(names.of(file.toString(), listed).listed()).isNotNull();
    FileState later =
        new FileState(
            listed.size(),
            listed.modifiedNanos(),
            System.currentTimeMillis() * 2_000_000,
            listed.device(),
            listed.inode());
    assertThat(names.of(file.toString(), later))
        .isEqualTo(new ItemName("./a.jpg", listed.modifiedNanos(), true, true, null));
  }

  @Test
  void aRootThatIsNotAPathIsLogged() {
    ItemNames names = ItemNames.below("nul\0byte", null, logged::add);
    assertThat(names.of("/a", new FileState(1, 0, 0, 1, 1))).isNull();
    assertThat(logged).singleElement().asString().contains("cannot be used (");
  }

  @Test
  void anyInputForAManifestIsHandled() throws IOException {
    Path file = file("a.jpg", 5000);
    byte[] noise = new byte[1 << 20];
    new SplittableRandom(1).nextBytes(noise);
    Files.write(manifest, noise);
    kept(cache(here, true), file);
    assertThat(logged).singleElement().asString().contains("lines (first: line 1) ");

    logged.clear();
    Files.write(manifest, new byte[0]);
    kept(cache(here, true), file);
    assertThat(logged).isEmpty();

    for (Path none : List.of(directory.resolve("missing"), here, Path.of("/dev/zero"))) {
      logged.clear();
      ItemNames names = ItemNames.below(here.toString(), none.toString(), logged::add);
      FileState state = new FileState(5000, 7, 7, 1, 1);
      ItemName name = new ItemName("./a.jpg", 7, true, true, null);
      assertThat(names.of(file.toString(), state)).isEqualTo(name);
      assertThat(names.of(file.toString(), state)).isEqualTo(name);
      assertThat(logged)
          .singleElement()
          .asString()
          .startsWith("dataset.manifest=" + none + " cannot be used (");
    }
  }

  @Test
  void nonAsciiNamesAreFound() throws IOException {
    String name = "b\u00e4r/\u65e5\u672c";
    String encoding = System.getProperty("sun.jnu.encoding", "");
    Assumptions.assumeTrue(encoding.equals("UTF-8"), "files have no such names under " + encoding);
    Path file = file(name, 10);
    list(file);
    assertThat(line(name)).isNotNull();
  }

  @Test
  void aPathHasOneCanonicalName() {
    assertThat(ItemNames.absolute("")).isNull();
    assertThat(ItemNames.absolute("/a\0")).isNull();
    assertThat(ItemNames.absolute("\0a")).isNull();
    assertThat(ItemNames.absolute("/a//b")).isEqualTo("/a/b");
    assertThat(ItemNames.absolute("/a/./b")).isEqualTo("/a/b");
    assertThat(ItemNames.absolute("//a/.//./b")).isEqualTo("/a/b");
    assertThat(ItemNames.absolute("a")).isEqualTo(Path.of("a").toAbsolutePath().toString());
  }

  @Test
  void aWindowsPathHasOneCanonicalNameWithSlashes() {
    FileSystem windows = Jimfs.newFileSystem(Configuration.windows());
    assertThat(ItemNames.absolute("C:\\data\\a.jpg", windows)).isEqualTo("C:/data/a.jpg");
    assertThat(ItemNames.absolute("C:/data\\a.jpg", windows)).isEqualTo("C:/data/a.jpg");
    assertThat(ItemNames.absolute("data\\a.jpg", windows)).isEqualTo("C:/work/data/a.jpg");
    assertThat(ItemNames.absolute("a?b", windows)).isNull();
  }
}
