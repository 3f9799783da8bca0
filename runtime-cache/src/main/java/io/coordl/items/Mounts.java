package io.coordl.items;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * This process's mounts: the file system type of each device, as in {@code /proc/self/mountinfo}. A
 * type is looked up when its device is first seen. Safe for concurrent use.
 */
public final class Mounts {
  public static final Mounts HERE = new Mounts(Path.of("/proc/self/mountinfo"));

  /**
   * Network file systems: {@code open} revalidates with the server; {@code stat} alone may be
   * served from the client's attribute cache.
   */
  private static final Set<String> NETWORK =
      Set.of("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "afs", "9p", "glusterfs", "gfs2");

  /** File systems with stable inode numbers. */
  private static final Set<String> STABLE_INODES =
      Set.of("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "nfs", "nfs4");

  /** Pseudo file systems: the kernel generates the content on each read. */
  private static final Set<String> PSEUDO =
      Set.of(
          "proc",
          "sysfs",
          "cgroup",
          "cgroup2",
          "debugfs",
          "tracefs",
          "securityfs",
          "configfs",
          "pstore",
          "efivarfs");

  /**
   * File systems whose change times do not come from a clock. A file system image carries the times
   * stored when it was built, and a rebuilt image may carry the same ones. Protocols without a
   * change time report the modification time instead, which any user can set.
   */
  private static final Set<String> SETTABLE_CHANGE_TIME =
      Set.of(
          "squashfs",
          "erofs",
          "iso9660",
          "romfs",
          "cramfs",
          "fuse.squashfuse",
          "fuse.squashfuse_ll",
          "fuse.erofsfuse",
          "fuse.dwarfs",
          "fuse.rclone",
          "fuse.sshfs");

  private static final int DEVICE = 2;

  private final Path table;
  private final Map<Long, String> types = new ConcurrentHashMap<>();

  Mounts(Path table) {
    this.table = table;
  }

  /** Returns the file system type, such as {@code ext4} or {@code fuse.sshfs}; empty if unknown. */
  public String typeOf(long device) {
    String known = types.get(device);
    return known == null ? types.computeIfAbsent(device, this::findPrivileged) : known;
  }

  /** May be called on a program thread that has no permission to read the table. */
  @SuppressWarnings("removal") // JDK 17 has security managers.
  private String findPrivileged(long device) {
    PrivilegedAction<String> finding = () -> find(device);
    return AccessController.doPrivileged(finding);
  }

  boolean isNetwork(long device) {
    return NETWORK.contains(typeOf(device));
  }

  boolean isPseudo(long device) {
    return PSEUDO.contains(typeOf(device));
  }

  boolean hasSettableChangeTime(long device) {
    return SETTABLE_CHANGE_TIME.contains(typeOf(device));
  }

  boolean hasStableInodes(long device) {
    return STABLE_INODES.contains(typeOf(device));
  }

  /**
   * Whether the device's file system type is in {@code excluded}; {@code fuse} matches every type
   * that begins with it.
   */
  boolean isOf(Set<String> excluded, long device) {
    if (excluded.isEmpty()) {
      return false;
    }
    String type = typeOf(device);
    return excluded.contains(type)
        || (type.startsWith("fuse") && excluded.contains("fuse")); // Includes fuseblk.
  }

  private String find(long device) {
    long major = (device >>> 8 & 0xfff) | (device >>> 32 & ~0xfffL);
    long minor = (device & 0xff) | (device >>> 12 & 0xffffff00L);
    String number = major + ":" + minor;
    try { // Paths in the table may use any encoding.
      for (String line : Files.readAllLines(table, StandardCharsets.ISO_8859_1)) {
        String[] words = line.split(" ", -1);
        for (int at = DEVICE + 1; words.length > DEVICE && at + 1 < words.length; at++) {
          if (words[DEVICE].equals(number) && words[at].equals("-")) {
            return words[at + 1];
          }
        }
      }
    } catch (IOException e) {
      return ""; // Not Linux, or hidden.
    }
    return "";
  }
}
