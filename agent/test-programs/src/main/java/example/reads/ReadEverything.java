package example.reads;

import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Scanner;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;
import javax.imageio.stream.ImageInputStream;

/**
 * Reads files through the JDK APIs with which user code reads samples, some as method references,
 * and prints a checksum per API and file.
 *
 * <p>Arguments: {@code TIMES FILE..}. Lines: {@code API FILE CRC32}, or {@code API FILE
 * EXCEPTION_CLASS: MESSAGE}. Most text is read as ISO 8859-1, in which every file is valid. An
 * agent must not change the output.
 */
public final class ReadEverything {
  private interface Read {
    byte[] read(Path file) throws IOException;
  }

  private interface Opening<T> {
    T open(Path file) throws IOException;
  }

  private interface FileOpening<T> {
    T open(File file) throws IOException;
  }

  private static final Map<String, Read> READS = reads();

  private ReadEverything() {}

  public static void main(String[] args) {
    ImageIO.setUseCache(false);
    int times = Integer.parseInt(args[0]);
    for (int time = 0; time < times; time++) {
      for (int i = 1; i < args.length; i++) {
        Path file = Path.of(args[i]);
        READS.forEach((name, read) -> System.out.println(line(name, file, read)));
      }
    }
  }

  private static String line(String name, Path file, Read read) {
    String result;
    try {
      CRC32 crc = new CRC32();
      crc.update(read.read(file));
      result = String.format(Locale.ROOT, "%08x", crc.getValue());
    } catch (IOException | RuntimeException e) {
      result = e.getClass().getName() + ": " + e.getMessage();
    }
    return name + " " + file + " " + result;
  }

  private static Map<String, Read> reads() {
    Map<String, Read> reads = new LinkedHashMap<>();
    streams(reads);
    files(reads);
    text(reads);
    channels(reads);
    images(reads);
    methodReferences(reads);
    return reads;
  }

  private static void streams(Map<String, Read> reads) {
    reads.put("new-FileInputStream(File)", file -> all(new FileInputStream(file.toFile())));
    reads.put("new-FileInputStream(String)", file -> all(new FileInputStream(file.toString())));
    reads.put(
        "FileInputStream.read()",
        file -> {
          try (InputStream in = new FileInputStream(file.toFile())) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
              out.write(b);
            }
            return out.toByteArray();
          }
        });
    reads.put(
        "FileInputStream.skip",
        file -> {
          try (InputStream in = new FileInputStream(file.toFile())) {
            long skipped = in.skip(in.available() / 2);
            return (skipped + " " + in.available() + " " + sum(in.readAllBytes()))
                .getBytes(StandardCharsets.UTF_8);
          }
        });
    reads.put(
        "FileInputStream.getChannel",
        file -> {
          try (FileInputStream in = new FileInputStream(file.toFile())) {
            return all(in.getChannel());
          }
        });
    reads.put(
        "new-RandomAccessFile(File)",
        file -> {
          try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            byte[] bytes = new byte[Math.toIntExact(in.length())];
            in.readFully(bytes);
            return bytes;
          }
        });
    reads.put(
        "new-RandomAccessFile(String)-backwards",
        file -> {
          try (RandomAccessFile in = new RandomAccessFile(file.toString(), "r")) {
            byte[] bytes = new byte[Math.toIntExact(in.length())];
            int half = bytes.length / 2;
            in.seek(half);
            in.readFully(bytes, half, bytes.length - half);
            in.seek(0);
            in.readFully(bytes, 0, half);
            return bytes;
          }
        });
    reads.put("URL.openStream", file -> all(file.toUri().toURL().openStream()));
  }

  private static void files(Map<String, Read> reads) {
    reads.put("Files.newInputStream", file -> all(Files.newInputStream(file)));
    reads.put("Files.readAllBytes", file -> Files.readAllBytes(file));
    reads.put(
        "Files.copy",
        file -> {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          Files.copy(file, out);
          return out.toByteArray();
        });
    reads.put(
        "Files.readString", file -> latin(Files.readString(file, StandardCharsets.ISO_8859_1)));
    reads.put("Files.readString-UTF-8", file -> latin(Files.readString(file)));
    reads.put(
        "Files.readAllLines",
        file -> latin(String.join("\n", Files.readAllLines(file, StandardCharsets.ISO_8859_1))));
    reads.put(
        "Files.lines",
        file -> {
          try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
            return latin(String.join("\n", lines.toList()));
          }
        });
    reads.put(
        "Files.newBufferedReader",
        file -> text(Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)));
  }

  private static void text(Map<String, Read> reads) {
    reads.put(
        "new-FileReader(File)",
        file -> text(new FileReader(file.toFile(), StandardCharsets.ISO_8859_1)));
    reads.put(
        "new-FileReader(String)",
        file -> text(new FileReader(file.toString(), StandardCharsets.ISO_8859_1)));
    reads.put(
        "new-Scanner(File)",
        file -> words(new Scanner(file.toFile(), StandardCharsets.ISO_8859_1)));
    reads.put("new-Scanner(Path)", file -> words(new Scanner(file, StandardCharsets.ISO_8859_1)));
  }

  private static void channels(Map<String, Read> reads) {
    reads.put("Files.newByteChannel", file -> all(Files.newByteChannel(file)));
    reads.put("FileChannel.open", file -> all(FileChannel.open(file, StandardOpenOption.READ)));
    reads.put(
        "FileChannel.map",
        file -> {
          try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            byte[] bytes = new byte[map.remaining()];
            map.get(bytes);
            return bytes;
          }
        });
    reads.put(
        "FileChannel.read(position)",
        file -> {
          try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer half = ByteBuffer.allocate(Math.toIntExact(channel.size() / 2));
            while (half.hasRemaining()
                && channel.read(half, channel.size() / 3 + half.position()) >= 0) {
              // Read until the buffer is full or the file ends.
            }
            return half.array();
          }
        });
  }

  private static void images(Map<String, Read> reads) {
    reads.put("ImageIO.read(File)", file -> pixels(ImageIO.read(file.toFile())));
    reads.put(
        "ImageIO.createImageInputStream(File)",
        file -> {
          try (ImageInputStream in = ImageIO.createImageInputStream(file.toFile())) {
            if (in == null) {
              return new byte[0];
            }
            // Not ImageIO.read(in), which closes the stream if it can decode it.
            return rest(in);
          }
        });
  }

  private static void methodReferences(Map<String, Read> reads) {
    reads.put("Files::readAllBytes", Files::readAllBytes);
    Opening<InputStream> newInputStream = Files::newInputStream;
    reads.put("Files::newInputStream", file -> all(newInputStream.open(file)));
    Opening<BufferedReader> newBufferedReader = Files::newBufferedReader;
    reads.put("Files::newBufferedReader", file -> text(newBufferedReader.open(file)));
    FileOpening<FileInputStream> fileInputStream = FileInputStream::new;
    reads.put("FileInputStream::new", file -> all(fileInputStream.open(file.toFile())));
    FileOpening<BufferedImage> read = ImageIO::read;
    reads.put("ImageIO::read", file -> pixels(read.open(file.toFile())));
  }

  private static byte[] all(InputStream stream) throws IOException {
    try (stream) {
      return stream.readAllBytes();
    }
  }

  private static byte[] all(SeekableByteChannel channel) throws IOException {
    try (channel) {
      ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size()));
      while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
        // Read until the buffer is full or the file ends.
      }
      return bytes.array();
    }
  }

  private static byte[] rest(ImageInputStream in) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] part = new byte[1000];
    for (int n = in.read(part); n >= 0; n = in.read(part)) {
      out.write(part, 0, n);
    }
    return out.toByteArray();
  }

  private static byte[] text(Reader reader) throws IOException {
    try (reader) {
      StringBuilder text = new StringBuilder();
      char[] part = new char[1000];
      for (int n = reader.read(part); n >= 0; n = reader.read(part)) {
        text.append(part, 0, n);
      }
      return latin(text.toString());
    }
  }

  private static byte[] words(Scanner scanner) {
    try (scanner) {
      StringBuilder text = new StringBuilder();
      while (scanner.hasNext()) {
        text.append(scanner.next()).append(' ');
      }
      return latin(text.toString());
    }
  }

  private static byte[] latin(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] pixels(BufferedImage image) {
    if (image == null) {
      return new byte[0];
    }
    int[] pixels =
        image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
    ByteBuffer bytes = ByteBuffer.allocate(pixels.length * Integer.BYTES);
    bytes.asIntBuffer().put(pixels);
    return bytes.array();
  }

  private static long sum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return crc.getValue();
  }
}
