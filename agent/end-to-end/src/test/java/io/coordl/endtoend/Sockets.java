package io.coordl.endtoend;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/** Open sockets, from {@code /proc/net}. Any thread. */
final class Sockets {
  private static final String LISTEN = "0A";
  private static final String OPEN = "07";

  /** A listening socket, at {@code ADDRESS:PORT}. */
  record Listening(String at, String inode) {}

  private Sockets() {}

  /** Listening TCP sockets and unconnected UDP sockets, as seen by commands with this prefix. */
  static List<Listening> listening(List<String> command) throws IOException, InterruptedException {
    List<Listening> found = new ArrayList<>();
    for (String protocol : List.of("tcp", "tcp6", "udp", "udp6")) {
      List<String> show = new ArrayList<>(command);
      show.addAll(List.of("cat", "/proc/net/" + protocol));
      String state = protocol.startsWith("tcp") ? LISTEN : OPEN;
      for (String line : Shell.run(show.toArray(new String[0])).lines().skip(1).toList()) {
        String[] words = line.strip().split("\\s+", -1);
        if (words[3].equals(state)) {
          found.add(new Listening(address(words[1]), words[9]));
        }
      }
    }
    return found;
  }

  /** Whether the process has that socket open. */
  static boolean has(long pid, Listening socket) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (Path descriptor : open.toList()) {
        if (Files.isSymbolicLink(descriptor)
            && Files.readSymbolicLink(descriptor)
                .toString()
                .equals("socket:[" + socket.inode() + "]")) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Parses an address such as {@code 0100007F:1E78}, which is 127.0.0.1:7800: in each word of four
   * bytes, the order is reversed. An IPv6 address is returned in brackets.
   */
  private static String address(String hex) throws UnknownHostException {
    String[] parts = hex.split(":", -1);
    byte[] there = HexFormat.of().parseHex(parts[0]);
    byte[] bytes = new byte[there.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = there[i ^ 3];
    }
    InetAddress address = InetAddress.getByAddress(bytes);
    String text = address.getHostAddress();
    return (address instanceof Inet6Address ? "[" + text + "]" : text)
        + ":"
        + Integer.parseInt(parts[1], 16);
  }
}
