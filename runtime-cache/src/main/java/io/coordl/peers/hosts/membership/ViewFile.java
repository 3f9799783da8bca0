package io.coordl.peers.hosts.membership;

import io.coordl.host.Contents;
import io.coordl.host.Liveness;
import io.coordl.host.OwnFiles;
import io.coordl.peers.hosts.Member;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The file through which the leading job publishes the members to the other jobs of its host. It
 * has two slots; the number of the last view selects the valid one. The next view is written to the
 * other slot, then the number advances with release semantics. Readers therefore never lock, and a
 * leader killed at any instruction leaves the previous view intact. There is one writer at a time
 * ({@link Liveness#tryLead}).
 */
record ViewFile(RandomAccessFile file, ByteBuffer memory) implements Contents.Memory {
  /**
   * The contents of a shared file that is a list of members. The file's locks show which jobs are
   * alive.
   */
  static final Contents<ViewFile> CONTENTS =
      new Contents<>() {
        @Override
        public Header header() {
          return HEADER;
        }

        @Override
        public long minimum() {
          return BYTES;
        }

        @Override
        public ViewFile map(Path path, long bytes) throws IOException {
          return ViewFile.map(path, bytes);
        }
      };

  /** Number of the last view; 0 if there is none. Its lowest bit is the slot. */
  static final long SEQUENCE = 48;

  static final int HEADER_BYTES = 4096;
  static final int SLOT_BYTES = 1 << 16;
  static final int BYTES = HEADER_BYTES + 2 * SLOT_BYTES;

  private static final Contents.Header HEADER =
      new Contents.Header(
          ".members",
          "list of members",
          "no other host is used",
          0x434f4f52444c5657L, // "COORDLVW"
          1,
          0,
          HEADER_BYTES);

  private static final int LENGTH = 0;
  private static final int CHECKSUM = 4;
  private static final int PAYLOAD = 8;

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** One view; {@code self} is the name of this host's member. */
  record View(String self, List<Member> members) {
    static final View NONE = new View("", List.of());

    View {
      members = List.copyOf(members);
    }
  }

  /** Maps a file of this user, extending it to {@code bytes}. */
  static ViewFile map(Path path, long bytes) throws IOException {
    RandomAccessFile file = OwnFiles.open(path);
    try {
      if (file.length() < bytes) {
        // On a full tmpfs this fails; a write through the mapping would raise SIGBUS.
        file.write(new byte[(int) bytes]);
      }
      ByteBuffer memory = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, bytes);
      return new ViewFile(file, memory.order(ByteOrder.nativeOrder()));
    } catch (IOException | RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  @Override
  public long get(long at) {
    return (long) WORDS.getVolatile(memory, (int) at);
  }

  @Override
  public void set(long at, long value) {
    WORDS.setVolatile(memory, (int) at, value);
  }

  /** Returns the number of the view that {@link #read} returns; each view has a new number. */
  long sequence() {
    return get(SEQUENCE);
  }

  /** Publishes a view; a slot has room for more than the maximum number of members. */
  void write(View view) {
    byte[] payload = encode(view);
    long next = sequence() + 1;
    int slot = slot(next);
    memory.putInt(slot + LENGTH, payload.length);
    memory.putInt(slot + CHECKSUM, checksum(payload));
    memory.put(slot + PAYLOAD, payload);
    set(SEQUENCE, next);
  }

  /**
   * Returns the last view; null if there is none, or if two newer views were written during the
   * read.
   */
  @Nullable View read() {
    long sequence = sequence();
    int slot = slot(sequence);
    int length = memory.getInt(slot + LENGTH);
    if (sequence == 0 || length < 0 || length > SLOT_BYTES - PAYLOAD) {
      return null;
    }
    byte[] payload = new byte[length];
    memory.get(slot + PAYLOAD, payload);
    return memory.getInt(slot + CHECKSUM) == checksum(payload) ? decode(payload) : null;
  }

  private static int slot(long sequence) {
    return HEADER_BYTES + (int) (sequence & 1) * SLOT_BYTES;
  }

  private static int checksum(byte[] payload) {
    CRC32C sum = new CRC32C();
    sum.update(payload);
    return (int) sum.getValue();
  }

  private static byte[] encode(View view) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      int count = Math.min(view.members().size(), Discovery.MAX_HOSTS);
      out.writeUTF(view.self());
      out.writeShort(count);
      for (Member member : view.members().subList(0, count)) {
        out.writeUTF(member.name());
        writeWithoutName(out, member);
      }
    } catch (IOException e) {
      throw new IllegalStateException("writing to memory cannot fail", e);
    }
    return bytes.toByteArray();
  }

  private static @Nullable View decode(byte[] payload) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
      String self = in.readUTF();
      List<Member> members = new ArrayList<>();
      for (int left = in.readUnsignedShort(); left > 0; left--) {
        members.add(readMember(in, in.readUTF()));
      }
      return new View(self, members);
    } catch (IOException e) {
      return null;
    }
  }

  /** Writes a member without its name. */
  static void writeWithoutName(DataOutput out, Member member) throws IOException {
    byte[] address = member.data().getAddress().getAddress();
    out.writeLong(member.capacity());
    out.writeShort(member.data().getPort());
    out.writeByte(address.length);
    out.write(address);
  }

  static Member readMember(DataInput in, String name) throws IOException {
    long capacity = in.readLong();
    int port = in.readUnsignedShort();
    byte[] address = new byte[in.readUnsignedByte()];
    in.readFully(address);
    return new Member(
        name, new InetSocketAddress(InetAddress.getByAddress(address), port), capacity);
  }

  /** Closes the file; the mapping stays until it is garbage-collected. */
  @Override
  public void close() throws IOException {
    file.close();
  }
}
