package io.coordl.checkpoint;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Length and SHA-256 of a model file, in a text file in the directory {@code .coordl} beside it, in
 * the format of {@code sha256sum -c}. The text file is replaced just before the model and therefore
 * records both the new and the old model: whenever the job is killed, the model file matches one of
 * them.
 */
record SideFile(SideFile.Known now, SideFile.@Nullable Known before) {
  static final String SUFFIX = ".sha256";

  static final String DIRECTORY = ".coordl";

  private static final Pattern TEXT =
      Pattern.compile(
          "# coordl: (\\d{1,19}) bytes, time (-?\\d{1,19})\n"
              + "(?:# before: (\\d{1,19}) bytes, ([0-9a-f]{64}|-), time (-?\\d{1,19})\n)?"
              + "([0-9a-f]{64})  [\\s\\S]*");

  /** The agent's side files are much shorter. */
  private static final int MAX_BYTES = 4096;

  /**
   * Length, SHA-256 and modification time of a file; the hash is {@link #NOT_READ} if it was never
   * computed.
   */
  record Known(long bytes, String sha256, long millis) {
    static final String NOT_READ = "-";

    boolean matches(Path file) throws IOException {
      if (Files.size(file) != bytes) {
        return false;
      }
      return sha256.equals(NOT_READ) ? time(file) == millis : sha256.equals(hash(file));
    }
  }

  static Path of(Path model) {
    return directory(model).resolve(model.getFileName() + SUFFIX);
  }

  /** Returns the directory beside a model that contains the agent's files. */
  static Path directory(Path model) {
    return model.resolveSibling(DIRECTORY);
  }

  /**
   * Deletes a side file if its model is gone; {@code anyModel} is any path in the model's
   * directory.
   */
  static void deleteIfOrphaned(Path side, Path anyModel) throws IOException {
    Path model = model(side, anyModel);
    if (!Files.exists(model, LinkOption.NOFOLLOW_LINKS) && read(model) != null) {
      Files.deleteIfExists(side);
    }
  }

  /** Whether {@code directory} contains at least one complete model, judged by length. */
  static boolean hasCompleteModel(Path directory) throws IOException {
    for (Path model : models(directory)) {
      SideFile known = read(model);
      if (known != null && Files.isRegularFile(model) && Files.size(model) == known.now.bytes) {
        return true;
      }
    }
    return false;
  }

  /** Whether {@code directory} has models and every one matches its side file. */
  static boolean isVerified(Path directory) throws IOException {
    if (!hasCompleteModel(directory)) {
      return false;
    }
    for (Path model : models(directory)) {
      SideFile known = read(model);
      if (known == null || !Files.isRegularFile(model) || !known.matches(model)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the models in {@code directory} that have a side file. */
  static List<Path> models(Path directory) throws IOException {
    Path sides = directory.resolve(DIRECTORY);
    List<Path> models = new ArrayList<>();
    if (Files.isDirectory(sides, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(sides, "*" + SUFFIX)) {
        files.forEach(side -> models.add(model(side, sides)));
      }
    }
    return models;
  }

  /**
   * Returns the model whose side file is {@code side}; the model is in the same directory as {@code
   * other}.
   */
  private static Path model(Path side, Path other) {
    String name = side.getFileName().toString();
    return other.resolveSibling(name.substring(0, name.length() - SUFFIX.length()));
  }

  /** Returns the side file of a model; null if there is none or it is not the agent's. */
  static @Nullable SideFile read(Path model) {
    Path side = of(model);
    try {
      if (!Files.isRegularFile(side, LinkOption.NOFOLLOW_LINKS) || Files.size(side) > MAX_BYTES) {
        return null;
      }
      Matcher text = TEXT.matcher(text(side));
      if (!text.matches()) {
        return null;
      }
      Known before =
          text.group(3) == null
              ? null
              : new Known(
                  Long.parseLong(text.group(3)), text.group(4), Long.parseLong(text.group(5)));
      return new SideFile(
          new Known(Long.parseLong(text.group(1)), text.group(6), Long.parseLong(text.group(2))),
          before);
    } catch (IOException | NumberFormatException e) {
      return null;
    }
  }

  /** Reads a side file or a mark; uses no channel, because an interrupt would close it. */
  static String text(Path side) throws IOException {
    try (InputStream in = new FileInputStream(side.toFile())) {
      return new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8);
    }
  }

  /** Whether the file matches either record. */
  boolean matches(Path model) throws IOException {
    return now.matches(model) || (before != null && before.matches(model));
  }

  /** Whether the modification time of the file is the one recorded. */
  boolean isUntouched(Path model) throws IOException {
    return time(model) == now.millis;
  }

  private static long time(Path file) throws IOException {
    return Files.getLastModifiedTime(file).toMillis();
  }

  /** Deletes the agent's side file, because the model will no longer match it. */
  static void forget(Path model) {
    try {
      if (read(model) != null) {
        Files.deleteIfExists(of(model));
      }
    } catch (IOException e) {
      // The next load reports the model as changed.
    }
  }

  /**
   * Durably writes the side file of a model before the model is moved into place. Returns false and
   * writes nothing if there is a file of that name that the agent did not write.
   */
  static boolean write(Path model, Path complete, String sha256) throws IOException {
    Path side = of(model);
    if (Files.exists(side, LinkOption.NOFOLLOW_LINKS) && read(model) == null) {
      return false;
    }
    String before = "";
    if (Files.exists(model) && !complete.equals(model)) {
      SideFile known = read(model);
      long size = Files.size(model);
      String content = known != null && known.now.bytes == size ? known.now.sha256 : Known.NOT_READ;
      before = "# before: " + size + " bytes, " + content + ", time " + time(model) + "\n";
    }
    String now = "# coordl: " + Files.size(complete) + " bytes, time " + time(complete) + "\n";
    String text = now + before + sha256 + "  " + model.getFileName() + "\n";
    ModelFile.write(side, directory(model), text);
    return true;
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every Java platform has SHA-256.
    }
  }

  static String hash(Path file) throws IOException {
    MessageDigest digest = sha256();
    try (InputStream in = new DigestInputStream(new FileInputStream(file.toFile()), digest)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  static String hash(byte[] bytes) {
    return HexFormat.of().formatHex(sha256().digest(bytes));
  }
}
