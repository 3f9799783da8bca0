package io.coordl.items;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Data set patterns match the files the user means; patterns that match nothing are reported. */
final class ItemFilterTest {
  private static final String HERE = Path.of("").toAbsolutePath().toString();
  private static final String ABOVE = Path.of("").toAbsolutePath().getParent().toString();

  private static String place(String text) {
    return text.replace("HERE", HERE).replace("ABOVE", ABOVE);
  }

  @Test
  void aPathThatDoesNotExistIsMissingUnlessItIsAGlob(@TempDir Path folder) {
    String there = folder.toString();
    String missing = folder.resolve("no").toString();
    ItemFilter filter = ItemFilter.matching(List.of(there, missing), ItemNames.HERE);
    assertThat(filter.isMissing(there)).isFalse();
    assertThat(filter.isMissing(missing)).isTrue();
    assertThat(filter.isMissing(missing + "/*.jpg")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "data, HERE/data/a.jpg",
    "./data, HERE/data/a.jpg",
    "data/, HERE/data/a.jpg",
    "../data, ABOVE/data/a.jpg",
    "x/../data, HERE/data/a.jpg",
    "/data/./x//..//train, /data/train/a.jpg",
    "/data/train, /data/./other/../train/a.jpg",
    "data, HERE/../${name}/data/a.jpg",
    "/data/a.jpg, /data/a.jpg",
    "*.jpg, HERE/a.jpg",
    "./*.jpg, HERE/a.jpg",
    "../data/*.jpg, ABOVE/data/a.jpg",
    "../x/../data/**.jpg, ABOVE/data/b/a.jpg",
    "/data/x/../*/a.jpg, /data/train/a.jpg",
    "'/data/{a,b}/*.jpg', /data/b/a.jpg",
    "/*/a.jpg, /data/a.jpg",
    "/data/train/*.jpg, /data/x/../train/a.jpg"
  })
  void aFileMatchesByAnyPathToIt(String pattern, String read) {
    String name = Path.of("").toAbsolutePath().getFileName().toString();
    ItemFilter filter = ItemFilter.matching(List.of(pattern), ItemNames.HERE);

    assertThat(filter.whyUnused(pattern)).isNotEmpty();
    assertThat(filter.whyNoItems()).isNotEmpty();
    assertThat(filter.isItem(place(read).replace("${name}", name))).isTrue();
    assertThat(filter.whyUnused(pattern)).isEmpty();
    assertThat(filter.whyNoItems()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/data/train, /data/trainer/a.jpg",
    "/data/train, /data/train/../test/a.jpg",
    "/data/*.jpg, /data/train/a.jpg",
    "/data/**.jpg, /data/../a.jpg",
    "data, /data/a.jpg"
  })
  void otherFilesDoNotMatch(String pattern, String read) {
    ItemFilter filter = ItemFilter.matching(List.of(pattern), ItemNames.HERE);

    assertThat(filter.isItem(read)).isFalse();
    assertThat(filter.mayBeItem(read)).isFalse();
  }

  @Test
  void anUnusedPatternIsReportedWithItsAbsolutePath() {
    ItemFilter filter =
        ItemFilter.matching(List.of("../a", "../b/*.jpg", "/c", "/c/d"), ItemNames.HERE);
    assertThat(filter.isItem("/c/d/e")).isTrue();

    assertThat(filter.whyUnused("../a"))
        .isEqualTo("the program read no file at or below " + ABOVE + "/a");
    assertThat(filter.whyUnused("../b/*.jpg"))
        .isEqualTo("the program read no file that matches " + ABOVE + "/b/*.jpg");
    assertThat(filter.whyUnused("/c")).isEmpty();
    assertThat(filter.whyUnused("/c/d")).isEmpty();
  }

  @Test
  void directoriesReadOutsideSamplesAreSuggestedAsTheDataSet() {
    AtomicBoolean loading = new AtomicBoolean();
    ItemFilter filter = ItemFilter.inferred(loading::get, ItemNames.HERE);
    assertThat(filter.whyNoItems()).isEqualTo("no file was read while a sample was being loaded");

    filter.isItem("/etc/config");
    filter.isItem("/data/a.csv");
    filter.isItem("/data/a.csv");
    assertThat(filter.whyNoItems())
        .isEqualTo(
            "no file was read while a sample was being loaded, but there were 2 reads of files in"
                + " /data at other times; if they are the data set, set dataset=/data");

    loading.set(true);
    assertThat(filter.isItem("/data/a.csv")).isTrue();
    assertThat(filter.whyNoItems()).isEmpty();
  }

  @Test
  void aBoundedNumberOfDirectoriesIsRemembered() {
    ItemFilter filter = ItemFilter.inferred(() -> false, ItemNames.HERE);
    for (int i = 0; i < 10_000; i++) {
      filter.isItem("/data/" + i + "/a.csv");
    }
    filter.isItem("/data/0/b.csv");
    assertThat(filter.whyNoItems()).contains("2 reads of files in /data/0 ");
  }
}
