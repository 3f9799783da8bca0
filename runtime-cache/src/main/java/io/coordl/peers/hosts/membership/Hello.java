package io.coordl.peers.hosts.membership;

import io.coordl.host.SharedFile;
import io.coordl.peers.hosts.Member;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * A host's description of itself. It is part of the host's address in the cluster, so every host
 * that receives the address knows the description. At most 255 bytes.
 *
 * @param version version of the peers' protocol
 * @param group checksum of the group's name
 * @param member null if the version differs; then only the name is known
 */
record Hello(int version, String name, long group, @Nullable Member member) {
  static final int VERSION = 1;

  private static final int MAX_NAME_LENGTH = 80;

  static Hello of(Member member, String group) {
    return new Hello(VERSION, member.name(), SharedFile.checksum(group), member);
  }

  /** Writes version and name first, as every later version must. */
  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(version);
      out.writeUTF(name);
      if (member != null) {
        out.writeLong(group);
        ViewFile.writeWithoutName(out, member);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Decodes a hello; null if the bytes are not one. */
  static @Nullable Hello decode(byte @Nullable [] bytes) {
    if (bytes == null) {
      return null;
    }
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      String name = in.readUTF();
      if (name.isEmpty() || name.length() > MAX_NAME_LENGTH || !name.matches("[\\x21-\\x7e]+")) {
        return null;
      }
      if (version != VERSION) {
        return new Hello(version, name, 0, null);
      }
      long group = in.readLong();
      Member member = ViewFile.readMember(in, name);
      return member.capacity() < 0 ? null : new Hello(version, name, group, member);
    } catch (IOException e) {
      return null;
    }
  }
}
