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
 * This process's mounts: the type of the file system on each device, as the kernel names it. Looked
 * up when a device is first seen. Safe for concurrent use.
 */
public final class Mounts {
  public static final Mounts HERE = new Mounts(Path.of("/proc/self/mountinfo"));

  /**
   * File systems on which an open asks the server, while {@code stat} alone may be answered from a
   * cache.
   */
  private static final Set<String> OF_SERVERS =
      Set.of("nfs", "nfs4", "cifs", "smb3", "ceph", "lustre", "afs", "9p", "glusterfs", "gfs2");

  /** File systems on which a file keeps its inode as long as it exists. */
  private static final Set<String> OF_INODES =
      Set.of("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "nfs", "nfs4");

  /** File systems whose files the kernel generates on each read. */
  private static final Set<String> OF_KERNEL =
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
   * File systems whose change times do not come from a clock. An image has the times that its
   * creator wrote, and the next image may repeat them. Clients of protocols without change times
   * return the modification time, which any user can set.
   */
  private static final Set<String> OF_SET_TIMES =
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

  /** The type of the file system, such as {@code ext4} or {@code fuse.sshfs}; empty if unknown. */
  public String typeOf(long device) {
    String known = types.get(device);
    return known == null ? types.computeIfAbsent(device, this::findAsTheAgent) : known;
  }

  /** May run on a thread of the program, which may lack permission to read the table. */
  @SuppressWarnings("removal") // JDK 17 has security managers.
  private String findAsTheAgent(long device) {
    PrivilegedAction<String> finding = () -> find(device);
    return AccessController.doPrivileged(finding);
  }

  boolean asksServer(long device) {
    return OF_SERVERS.contains(typeOf(device));
  }

  boolean isOfKernel(long device) {
    return OF_KERNEL.contains(typeOf(device));
  }

  boolean tellsNoChange(long device) {
    return OF_SET_TIMES.contains(typeOf(device));
  }

  boolean keepsInodes(long device) {
    return OF_INODES.contains(typeOf(device));
  }

  /** Whether the file system has one of these types; {@code fuse} includes {@code fuse.sshfs}. */
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
    try { // Paths in it may be of any encoding.
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
