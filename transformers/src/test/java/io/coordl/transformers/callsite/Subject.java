package io.coordl.transformers.callsite;

import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.Reader;
import java.io.Serializable;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.imageio.stream.FileImageInputStream;
import javax.imageio.stream.ImageInputStream;
import javax.sound.sampled.AudioInputStream;
import javax.sound.sampled.AudioSystem;

/** A program with all rewritten calls of Java 17; tests load it plain and rewritten. */
@SuppressWarnings({
  "AssignmentExpression",
  "DefaultCharset",
  "StreamResourceLeak",
  "unused",
  "ReturnValueIgnored"
})
public final class Subject {
  private Subject() {}

  public static Map<String, Call> calls() {
    Map<String, Call> calls = new LinkedHashMap<>();
    streams(calls);
    closedStreams(calls);
    shapes(calls);
    randomAccess(calls);
    readers(calls);
    files(calls);
    channels(calls);
    images(calls);
    nulls(calls);
    return calls;
  }

  private static void streams(Map<String, Call> calls) {
    calls.put("new FileInputStream(File)", p -> drain(new FileInputStream(p.toFile())));
    calls.put("new FileInputStream(String)", p -> drain(new FileInputStream(p.toString())));
    calls.put("FileInputStream by byte", p -> byByte(new FileInputStream(p.toFile())));
    calls.put(
        "FileInputStream.readAllBytes",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            return List.of(in.skip(3), text(in.readAllBytes()), text(in.readAllBytes()), in.read());
          }
        });
    calls.put(
        "FileInputStream.readNBytes",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            return List.of(
                text(in.readNBytes(5)), in.available(), text(in.readNBytes(1 << 20)), in.read());
          }
        });
    calls.put(
        "FileInputStream.transferTo",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            in.skipNBytes(2);
            return List.of(in.transferTo(out), text(out.toByteArray()));
          }
        });
    calls.put(
        "FileInputStream.skip past the end and back",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            List<Object> seen = new ArrayList<>();
            seen.add(in.skip(1L << 40));
            seen.add(in.available());
            seen.add(in.read());
            seen.add(in.read(new byte[4]));
            seen.add(in.skip(-(1L << 40)));
            seen.add(in.read());
            seen.add(in.markSupported());
            return seen;
          }
        });
    calls.put(
        "FileInputStream.skip before the start",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            return in.skip(-1);
          }
        });
    calls.put(
        "FileInputStream bounds",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            return in.read(new byte[4], 2, 3);
          }
        });
    calls.put(
        "FileInputStream.reset",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            in.mark(10);
            in.reset();
            return "reset";
          }
        });
    calls.put(
        "FileInputStream.getChannel shares the position",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            in.skip(4);
            FileChannel channel = in.getChannel();
            long before = channel.position();
            channel.position(2);
            return List.of(before, text(in.readAllBytes()), channel.position(), channel.size());
          }
        });
    calls.put(
        "FileInputStream.getFD shares the position",
        p -> {
          try (FileInputStream in = new FileInputStream(p.toFile())) {
            in.skip(4);
            boolean valid = in.getFD().valid();
            FileInputStream same = new FileInputStream(in.getFD());
            return List.of(valid, same.read(), text(in.readAllBytes()), same.read());
          }
        });
    calls.put(
        "System.gc",
        p -> {
          System.gc();
          Runtime.getRuntime().gc();
          return "collected";
        });
    calls.put("URL.openStream", p -> drain(p.toUri().toURL().openStream()));
    calls.put(
        "URL.openStream mark",
        p -> {
          try (InputStream in = p.toUri().toURL().openStream()) {
            in.mark(8);
            int first = in.read();
            in.reset();
            return List.of(first, in.read(), in.markSupported(), in.getClass().getName());
          }
        });
  }

  private static void closedStreams(Map<String, Call> calls) {
    closed(calls, "read", FileInputStream::read);
    closed(calls, "read array", in -> in.read(new byte[3]));
    closed(calls, "read nothing", in -> in.read(new byte[0]));
    closed(calls, "skip", in -> in.skip(1));
    closed(calls, "available", FileInputStream::available);
    closed(calls, "readAllBytes", in -> text(in.readAllBytes()));
    closed(calls, "readNBytes", in -> text(in.readNBytes(4)));
    closed(calls, "getFD", in -> in.getFD().valid());
    closed(calls, "getChannel", in -> in.getChannel().isOpen());
    closed(calls, "close", in -> "closed twice");
  }

  private interface OnClosed {
    Object apply(FileInputStream in) throws IOException;
  }

  private static void closed(Map<String, Call> calls, String name, OnClosed body) {
    calls.put(
        "closed FileInputStream: " + name,
        p -> {
          FileInputStream in = new FileInputStream(p.toFile());
          in.close();
          try {
            return body.apply(in);
          } finally {
            in.close();
          }
        });
    calls.put(
        "closed Files stream: " + name,
        p -> {
          InputStream in = Files.newInputStream(p);
          in.close();
          return switch (name) {
            case "read" -> in.read();
            case "read array" -> in.read(new byte[3]);
            case "read nothing" -> in.read(new byte[0]);
            case "skip" -> in.skip(1);
            case "available" -> in.available();
            case "readNBytes" -> text(in.readNBytes(4));
            default -> {
              in.close();
              yield "closed";
            }
          };
        });
  }

  /** The bytecode shapes of constructor calls and method references. */
  private static void shapes(Map<String, Call> calls) {
    calls.put(
        "ternary in the arguments",
        p -> drain(new FileInputStream(p.getNameCount() > 0 ? p.toFile() : new File("none"))));
    calls.put(
        "nested new",
        p -> drain(new FileInputStream(new File(p.getParent().toFile(), p.getFileName() + ""))));
    calls.put(
        "nested sites",
        p ->
            byReader(
                new BufferedReader(
                    new java.io.InputStreamReader(
                        new FileInputStream(readName(new FileReader(p.toFile()), p)),
                        StandardCharsets.ISO_8859_1))));
    calls.put(
        "switch that may throw in the arguments",
        p ->
            drain(
                new FileInputStream(
                    switch (p.getNameCount()) {
                      case 0 -> throw new IllegalArgumentException(new File("x").getName());
                      case 1 -> new File("none");
                      default -> p.toFile();
                    })));
    calls.put(
        "unused new",
        p -> {
          new FileInputStream(p.toFile());
          return "unused";
        });
    calls.put(
        "try and finally",
        p -> {
          InputStream in = null;
          try {
            in = new FileInputStream(p.toFile());
            return drain(in);
          } catch (FileNotFoundException e) {
            return "caught " + e.getMessage();
          } finally {
            if (in != null) {
              in.close();
            }
          }
        });
    calls.put(
        "assigned twice",
        p -> {
          FileInputStream one;
          FileInputStream two = one = new FileInputStream(p.toFile());
          return drain(two) + (one == two);
        });
    calls.put("subclass, super(File)", p -> drain(new Sub(p.toFile())));
    calls.put("subclass, this(String)", p -> drain(new Sub(p.toString())));
    calls.put("subclass getFD", p -> fd(new Sub(p.toFile())));
    calls.put("constructor reference", p -> apply(File::new, FileInputStream::new, p));
    calls.put(
        "static reference",
        p -> {
          Call call = Files::readAllBytes;
          return text((byte[]) call.on(p));
        });
    calls.put(
        "instance reference",
        p -> {
          URL url = p.toUri().toURL();
          Open bound = url::openStream;
          OpenUrl unbound = URL::openStream;
          return List.of(drain(bound.open()), drain(unbound.open(url)));
        });
    calls.put(
        "serialisable reference",
        p -> {
          SerializableCall call = Files::readString;
          return call.on(p);
        });
  }

  private interface Open {
    InputStream open() throws IOException;
  }

  private interface OpenUrl {
    InputStream open(URL url) throws IOException;
  }

  private interface OpenFile {
    InputStream open(File file) throws IOException;
  }

  private interface SerializableCall extends Serializable {
    Object on(Path path) throws IOException;
  }

  private static Object apply(Function<String, File> file, OpenFile open, Path path)
      throws IOException {
    return drain(open.open(file.apply(path.toString())));
  }

  private static Object fd(FileInputStream in) throws IOException {
    try (in) {
      return in.getFD().valid();
    }
  }

  private static String readName(Reader reader, Path path) throws IOException {
    try (reader) {
      reader.read();
      return path.toString();
    }
  }

  /** A program's own subclass, which must stay a subclass of the JDK's class. */
  private static final class Sub extends FileInputStream {
    Sub(File file) throws FileNotFoundException {
      super(file.isAbsolute() ? file : new File(file, "x"));
    }

    Sub(String path) throws FileNotFoundException {
      this(new File(path));
    }

    @Override
    public int available() throws IOException {
      super.getFD();
      return super.available();
    }
  }

  private static void randomAccess(Map<String, Call> calls) {
    calls.put(
        "RandomAccessFile",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toFile(), "r")) {
            return random(file);
          }
        });
    calls.put(
        "RandomAccessFile(String)",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toString(), "r")) {
            return random(file);
          }
        });
    calls.put(
        "RandomAccessFile rw",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toFile(), "rw")) {
            return random(file);
          }
        });
    calls.put("RandomAccessFile mode", p -> new RandomAccessFile(p.toFile(), "x"));
    calls.put(
        "RandomAccessFile.write",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toFile(), "r")) {
            file.write(1);
            return "written";
          }
        });
    calls.put(
        "RandomAccessFile.readFully",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toFile(), "r")) {
            file.readFully(new byte[1 << 16]);
            return "read";
          }
        });
    calls.put(
        "RandomAccessFile.seek negative",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toFile(), "r")) {
            file.seek(-1);
            return "sought";
          }
        });
    calls.put(
        "RandomAccessFile.getChannel",
        p -> {
          try (RandomAccessFile file = new RandomAccessFile(p.toFile(), "r")) {
            file.seek(3);
            long before = file.getChannel().position();
            file.getChannel().position(1);
            return List.of(before, file.read(), file.getFilePointer(), file.getFD().valid());
          }
        });
    calls.put(
        "RandomAccessFile closed",
        p -> {
          RandomAccessFile file = new RandomAccessFile(p.toFile(), "r");
          file.close();
          file.close();
          return List.of(file.read(new byte[0]), file.read());
        });
    calls.put(
        "RandomAccessFile closed getFilePointer",
        p -> {
          RandomAccessFile file = new RandomAccessFile(p.toFile(), "r");
          file.close();
          return file.getFilePointer();
        });
    calls.put(
        "RandomAccessFile closed seek",
        p -> {
          RandomAccessFile file = new RandomAccessFile(p.toFile(), "r");
          file.close();
          file.seek(0);
          return "sought";
        });
  }

  private static Object random(RandomAccessFile file) throws IOException {
    List<Object> seen = new ArrayList<>();
    seen.add(file.length());
    seen.add(file.read());
    seen.add(String.valueOf(file.readLine()));
    seen.add(file.getFilePointer());
    byte[] some = new byte[5];
    seen.add(file.read(some));
    seen.add(text(some));
    seen.add(file.skipBytes(2));
    seen.add(file.getFilePointer());
    file.seek(file.length() + 10);
    seen.add(file.read());
    seen.add(file.read(some, 1, 2));
    seen.add(file.getFilePointer());
    file.seek(0);
    byte[] all = new byte[(int) file.length()];
    file.readFully(all);
    seen.add(text(all));
    return seen;
  }

  private static void readers(Map<String, Call> calls) {
    Charset utf = StandardCharsets.UTF_8;
    calls.put("new FileReader(File)", p -> byReader(new FileReader(p.toFile())));
    calls.put("new FileReader(String)", p -> byReader(new FileReader(p.toString())));
    calls.put("new FileReader(File, Charset)", p -> byReader(new FileReader(p.toFile(), utf)));
    calls.put("new FileReader(String, Charset)", p -> byReader(new FileReader(p.toString(), utf)));
    calls.put("FileReader null charset", p -> new FileReader(p.toFile(), (Charset) null));
    calls.put(
        "FileReader methods",
        p -> {
          try (FileReader reader = new FileReader(p.toFile())) {
            StringWriter rest = new StringWriter();
            return List.of(
                reader.getEncoding(),
                reader.ready(),
                reader.skip(2),
                reader.read(),
                reader.markSupported(),
                reader.transferTo(rest),
                rest.toString());
          }
        });
    calls.put(
        "FileReader closed",
        p -> {
          FileReader reader = new FileReader(p.toFile());
          reader.close();
          reader.close();
          return reader.read();
        });
    calls.put("new Scanner(File)", p -> scan(new Scanner(p.toFile())));
    calls.put("new Scanner(File, String)", p -> scan(new Scanner(p.toFile(), "UTF-8")));
    calls.put("new Scanner(File, Charset)", p -> scan(new Scanner(p.toFile(), utf)));
    calls.put("new Scanner(Path)", p -> scan(new Scanner(p)));
    calls.put("new Scanner(Path, String)", p -> scan(new Scanner(p, "UTF-8")));
    calls.put("new Scanner(Path, Charset)", p -> scan(new Scanner(p, utf)));
    calls.put("Scanner unknown charset", p -> scan(new Scanner(p.toFile(), "no such charset")));
    calls.put("Scanner unsupported charset", p -> scan(new Scanner(p, "x-none")));
  }

  private static Object scan(Scanner scanner) {
    try (scanner) {
      List<Object> lines = new ArrayList<>();
      while (scanner.hasNextLine()) {
        lines.add(scanner.nextLine());
      }
      lines.add(String.valueOf(scanner.ioException()));
      return lines;
    }
  }

  private static void files(Map<String, Call> calls) {
    Charset latin = StandardCharsets.ISO_8859_1;
    calls.put("File.length", p -> p.toFile().length());
    calls.put("File.exists", p -> p.toFile().exists());
    calls.put("File.isFile", p -> p.toFile().isFile());
    calls.put("Files.size", Files::size);
    calls.put("Files.exists", p -> Files.exists(p));
    calls.put("Files.isRegularFile", p -> Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS));
    calls.put(
        "Files.newOutputStream",
        p -> {
          Path written = Path.of(p + ".written");
          try (OutputStream out = Files.newOutputStream(written)) {
            out.write(7);
          }
          long size = Files.size(written);
          Files.delete(written);
          return size;
        });
    calls.put("Files.newInputStream", p -> drain(Files.newInputStream(p)));
    calls.put(
        "Files.newInputStream READ", p -> drain(Files.newInputStream(p, StandardOpenOption.READ)));
    calls.put(
        "Files.newInputStream WRITE",
        p -> drain(Files.newInputStream(p, StandardOpenOption.WRITE)));
    calls.put(
        "Files.newInputStream skip",
        p -> {
          try (InputStream in = Files.newInputStream(p)) {
            List<Object> seen = new ArrayList<>();
            seen.add(in.skip(3));
            seen.add(in.available());
            seen.add(in.skip(-2));
            seen.add(in.read());
            seen.add(in.skip(1L << 40));
            seen.add(in.read());
            seen.add(in.skip(-(1L << 40)));
            seen.add(text(in.readAllBytes()));
            seen.add(in.markSupported());
            return seen;
          }
        });
    calls.put("Files.readAllBytes", p -> text(Files.readAllBytes(p)));
    calls.put(
        "Files.copy",
        p -> {
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          return List.of(Files.copy(p, out), text(out.toByteArray()));
        });
    calls.put(
        "Files.copy to a full disk",
        p ->
            Files.copy(
                p,
                new OutputStream() {
                  @Override
                  public void write(int b) throws IOException {
                    throw new IOException("no space");
                  }
                }));
    calls.put("Files.readString", p -> Files.readString(p));
    calls.put("Files.readString(Charset)", p -> Files.readString(p, latin));
    calls.put("Files.readString UTF-16", p -> Files.readString(p, StandardCharsets.UTF_16));
    calls.put("Files.readAllLines", p -> Files.readAllLines(p));
    calls.put("Files.readAllLines(Charset)", p -> Files.readAllLines(p, latin));
    calls.put("Files.lines", p -> lines(Files.lines(p)));
    calls.put("Files.lines(Charset)", p -> lines(Files.lines(p, latin)));
    calls.put("Files.newBufferedReader", p -> byReader(Files.newBufferedReader(p)));
    calls.put("Files.newBufferedReader(Charset)", p -> byReader(Files.newBufferedReader(p, latin)));
  }

  private static Object lines(Stream<String> lines) throws IOException {
    try (lines) {
      return lines.collect(Collectors.toList());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void channels(Map<String, Call> calls) {
    calls.put("Files.newByteChannel", p -> seekable(Files.newByteChannel(p)));
    calls.put(
        "Files.newByteChannel(Set)",
        p -> seekable(Files.newByteChannel(p, EnumSet.of(StandardOpenOption.READ))));
    calls.put("FileChannel.open", p -> channel(FileChannel.open(p)));
    calls.put("FileChannel.open(READ)", p -> channel(FileChannel.open(p, StandardOpenOption.READ)));
    calls.put("FileChannel.open(Set)", p -> channel(FileChannel.open(p, Set.of())));
    calls.put("FileChannel.open(null)", p -> FileChannel.open(p, (Set<StandardOpenOption>) null));
    calls.put(
        "FileChannel write",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            return channel.write(ByteBuffer.allocate(1));
          }
        });
    calls.put(
        "FileChannel negative position",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            return channel.read(ByteBuffer.allocate(1), -1);
          }
        });
    calls.put(
        "FileChannel read-only buffer",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            return channel.read(ByteBuffer.allocate(1).asReadOnlyBuffer());
          }
        });
    calls.put(
        "FileChannel closed",
        p -> {
          FileChannel channel = FileChannel.open(p);
          channel.close();
          channel.close();
          return channel.read(ByteBuffer.allocate(1));
        });
    calls.put(
        "FileChannel lock",
        p -> {
          try (FileChannel channel = FileChannel.open(p);
              var lock = channel.lock(0, 1, true)) {
            return lock.isShared();
          }
        });
    calls.put(
        "FileChannel map",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            MappedByteBuffer all = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            long some = Math.min(3, channel.size());
            MappedByteBuffer part =
                channel.map(FileChannel.MapMode.READ_ONLY, some, channel.size() - some);
            return List.of(
                text(all), text(part), all.isReadOnly(), all.isDirect(), part.position());
          }
        });
    calls.put(
        "FileChannel map beyond the end",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, 1 << 20);
          }
        });
    calls.put(
        "FileChannel map read-write",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, 1);
          }
        });
    calls.put(
        "FileChannel interrupted",
        p -> {
          try (FileChannel channel = FileChannel.open(p)) {
            Thread.currentThread().interrupt();
            return channel.read(ByteBuffer.allocate(1));
          } finally {
            Thread.interrupted();
          }
        });
    calls.put(
        "streams interrupted",
        p -> {
          Thread.currentThread().interrupt();
          try (FileInputStream in = new FileInputStream(p.toFile());
              InputStream nio = Files.newInputStream(p)) {
            return List.of(in.read(), nio.read(), Thread.currentThread().isInterrupted());
          } finally {
            Thread.interrupted();
          }
        });
  }

  private static Object seekable(SeekableByteChannel channel) throws IOException {
    try (channel) {
      List<Object> seen = new ArrayList<>();
      ByteBuffer four = ByteBuffer.allocateDirect(4);
      seen.add(channel.size());
      seen.add(channel.read(four));
      seen.add(text(four.flip()));
      seen.add(channel.position());
      channel.position(2);
      ByteBuffer much = ByteBuffer.allocate(1 << 16);
      seen.add(channel.read(much));
      seen.add(text(much.flip()));
      seen.add(channel.read(much.clear()));
      channel.position(channel.size() + 5);
      seen.add(channel.read(much.clear()));
      seen.add(channel.position());
      return seen;
    }
  }

  private static Object channel(FileChannel channel) throws IOException {
    try (channel) {
      List<Object> seen = new ArrayList<>();
      ByteBuffer[] two = {ByteBuffer.allocate(3), ByteBuffer.allocateDirect(1 << 10)};
      seen.add(channel.read(two));
      seen.add(text(two[0].flip()));
      seen.add(text(two[1].flip()));
      ByteBuffer some = ByteBuffer.allocateDirect(6);
      seen.add(channel.read(some, 1));
      seen.add(text(some.flip()));
      seen.add(channel.read(some.clear(), 1 << 20));
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      seen.add(channel.transferTo(2, 1 << 20, java.nio.channels.Channels.newChannel(out)));
      seen.add(text(out.toByteArray()));
      seen.add(seekable(channel));
      return seen;
    }
  }

  private static void images(Map<String, Call> calls) {
    calls.put(
        "AudioSystem.getAudioInputStream(File)",
        p -> {
          try (AudioInputStream in = AudioSystem.getAudioInputStream(p.toFile())) {
            return in.getFormat() + " " + text(in.readAllBytes());
          }
        });
    calls.put("ImageIO.read(File)", p -> pixels(ImageIO.read(p.toFile())));
    calls.put("ImageIO.read(URL)", p -> pixels(ImageIO.read(p.toUri().toURL())));
    calls.put(
        "ImageIO.read(InputStream)",
        p -> {
          try (InputStream in = new FileInputStream(p.toFile())) {
            return pixels(ImageIO.read(in));
          }
        });
    calls.put(
        "ImageIO.read(ImageInputStream)",
        p -> {
          ImageInputStream in = ImageIO.createImageInputStream(p.toFile());
          return in == null ? "none" : pixels(ImageIO.read(in));
        });
    calls.put(
        "ImageInputStream",
        p -> {
          try (ImageInputStream in = ImageIO.createImageInputStream(p.toFile())) {
            return imageStream(in);
          }
        });
    calls.put(
        "FileImageInputStream",
        p -> {
          try (FileImageInputStream in = new FileImageInputStream(p.toFile())) {
            return imageStream(in);
          }
        });
    calls.put(
        "ImageInputStream closed",
        p -> {
          ImageInputStream in = ImageIO.createImageInputStream(p.toFile());
          in.close();
          return in.read();
        });
    calls.put("createImageInputStream(Path)", p -> ImageIO.createImageInputStream(p) == null);
  }

  private static Object imageStream(ImageInputStream in) throws IOException {
    List<Object> seen = new ArrayList<>();
    seen.add(in.length());
    seen.add(in.read());
    in.mark();
    byte[] some = new byte[5000];
    seen.add(in.read(some));
    seen.add(text(some));
    in.reset();
    seen.add(in.getStreamPosition());
    in.seek(in.length());
    seen.add(in.read());
    seen.add(in.read(some, 0, 4));
    seen.add(in.getStreamPosition());
    return seen;
  }

  private static Object pixels(BufferedImage image) {
    if (image == null) {
      return "no image";
    }
    int width = image.getWidth();
    int height = image.getHeight();
    return width
        + "x"
        + height
        + " "
        + Arrays.hashCode(image.getRGB(0, 0, width, height, null, 0, width));
  }

  private static void nulls(Map<String, Call> calls) {
    calls.put("null File", p -> new FileInputStream((File) null));
    calls.put("null String", p -> new FileInputStream((String) null));
    calls.put("null RandomAccessFile", p -> new RandomAccessFile((File) null, "r"));
    calls.put("null mode", p -> new RandomAccessFile(p.toFile(), null));
    calls.put("null FileReader", p -> new FileReader((String) null));
    calls.put("null Scanner", p -> new Scanner((File) null));
    calls.put("null Path", p -> Files.readAllBytes(null));
    calls.put("null size", p -> Files.size(null));
    calls.put("null exists", p -> Files.exists(null));
    calls.put(
        "null length",
        p -> {
          File none = p == null ? new File("x") : null;
          return none.length();
        });
    calls.put("null copy", p -> Files.copy(p, (OutputStream) null));
    calls.put("null charset", p -> Files.readString(p, null));
    calls.put("null options", p -> Files.newByteChannel(p, (java.nio.file.OpenOption) null));
    calls.put("null image", p -> ImageIO.read((File) null));
    calls.put("null image URL", p -> ImageIO.read((URL) null));
    calls.put("null image input", p -> ImageIO.createImageInputStream(null));
    calls.put("null image file", p -> new FileImageInputStream((File) null));
    calls.put(
        "null stream",
        p -> {
          FileInputStream none = p == null ? new FileInputStream("x") : null;
          return none.getFD();
        });
  }

  private static String drain(InputStream in) throws IOException {
    try (in) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      byte[] buffer = new byte[1000];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        out.write(buffer, 0, count);
        out.write('|'); // A program sees the lengths of its reads.
      }
      return text(out.toByteArray()) + in.read(buffer, 0, 0);
    }
  }

  private static String byByte(InputStream in) throws IOException {
    try (in) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int value = in.read(); value >= 0; value = in.read()) {
        out.write(value);
      }
      return text(out.toByteArray());
    }
  }

  private static Object byReader(Reader reader) throws IOException {
    try (reader) {
      StringBuilder all = new StringBuilder();
      char[] buffer = new char[100];
      all.append((char) reader.read());
      for (int count = reader.read(buffer); count >= 0; count = reader.read(buffer)) {
        all.append(buffer, 0, count);
      }
      return all.toString();
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static String text(ByteBuffer bytes) {
    byte[] array = new byte[bytes.remaining()];
    bytes.get(array);
    return text(array);
  }
}
