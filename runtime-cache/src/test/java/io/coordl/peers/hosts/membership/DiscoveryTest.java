package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.coordl.host.Machine;
import io.coordl.peers.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How the peer option is parsed, where this host listens, and how hosts meet in a directory. */
final class DiscoveryTest {
  @TempDir Path directory;
  private final List<String> logged = new ArrayList<>();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "node1 | node1",
        "a,b | a b",
        "host[1-3,7],other | host1 host2 host3 host7 other",
        "node[008-011] | node008 node009 node010 node011",
        "rack[1-2]n[01-02] | rack1n01 rack1n02 rack2n01 rack2n02",
        "n[1,3]-ib | n1-ib n3-ib",
        "gpu[9-10] | gpu9 gpu10"
      })
  void aNodeListIsExpanded(String list, String names) {
    assertThat(NodeList.expand(list, 256)).containsExactly(names.split(" ", -1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a,",
        "a[",
        "a]",
        "a[1",
        "a[]",
        "a[x]",
        "a[3-1]",
        "a[1-]",
        "a[[1]]",
        "a b",
        "a[1]]",
        "a[1-2-3]",
        "a[1-9999999999]"
      })
  void anInvalidNodeListIsReported(String list) {
    assertThatThrownBy(() -> NodeList.expand(list, 256))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'" + list + "' is not a node list such as node[01-04,7]");
  }

  @Test
  void tooManyNodesAreReportedAndNotExpanded() {
    assertThat(NodeList.expand("n[1-256]", 256)).hasSize(256);
    assertThatThrownBy(() -> NodeList.expand("n[0-999999999]", 256))
        .hasMessage("'n[0-999999999]' names more than 256 nodes, which is the maximum");
  }

  @ParameterizedTest
  @CsvSource({
    "a, a, 0",
    "a:7800, a, 7800",
    "10.0.0.1:1, 10.0.0.1, 1",
    "[::1]:9, ::1, 9",
    "[fe80::1%eth0], fe80::1%eth0, 0"
  })
  void hostsAreParsed(String text, String host, int port) {
    assertThat(HostPort.parse(text)).isEqualTo(new HostPort(host, port)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", ":1", "a:", "a:b", "a:0", "a:65535", "a:99999", "a:1:2", "::1", "[::1", "a b", "a/b"
      })
  void anInvalidHostIsRefused(String text) {
    assertThatThrownBy(() -> HostPort.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void everyKindOfPeerIsParsed() {
    List<HostPort> hosts = List.of(new HostPort("a", 7800), new HostPort("b", 9));
    assertThat(Discovery.parse(List.of("a", "b:9")))
        .isEqualTo(new Discovery(hosts, null, false, 7800));
    List<HostPort> name = List.of(new HostPort("peers.local", 7800));
    assertThat(Discovery.parse("dns:peers.local"))
        .isEqualTo(new Discovery(name, null, false, 7800));
    assertThat(Discovery.parse("dns:peers:9").port()).isEqualTo(9);
    assertThat(Discovery.parse("file:/shared/dir"))
        .isEqualTo(new Discovery(List.of(), Path.of("/shared/dir"), false, 7800));
    assertThat(Discovery.parse("slurm")).isEqualTo(new Discovery(List.of(), null, true, 7800));
    assertThat(Discovery.parse("slurm:9")).isEqualTo(new Discovery(List.of(), null, true, 9));
    assertThatThrownBy(() -> Discovery.parse("file:")).hasMessage("file: names no directory");
    assertThatThrownBy(() -> Discovery.parse(List.of("a", "dns:b")))
        .hasMessage("dns:b cannot be combined with others");
  }

  @Test
  void slurmPeersAreTheJobsNodes() {
    Discovery peers = Discovery.parse("slurm:9");

    assertThat(peers.hosts(Map.of("SLURM_JOB_NODELIST", "n[1-2]")::get))
        .containsExactly(new HostPort("n1", 9), new HostPort("n2", 9));
    assertThatThrownBy(() -> peers.hosts(name -> null))
        .hasMessageStartingWith("peer=slurm: SLURM_JOB_NODELIST is not set");
    assertThatThrownBy(() -> peers.hosts(name -> "n["))
        .hasMessage(
            "peer=slurm: SLURM_JOB_NODELIST 'n[' is not a node list such as node[01-04,7];"
                + " no other host is used.");
  }

  private static InetSocketAddress at(String host, int port) throws UnknownHostException {
    return new InetSocketAddress(InetAddress.getByName(host), port);
  }

  private static InetSocketAddress own(HostPort bind, String here, InetSocketAddress... listed)
      throws IOException {
    InetAddress mine = InetAddress.getByName(here);
    return new OwnAddress(a -> a.equals(mine) || a.isLoopbackAddress())
        .find(bind, new LinkedHashSet<>(List.of(listed)), 7800);
  }

  @Test
  void theListedLocalAddressIsUsed() throws IOException {
    assertThat(own(null, "10.0.0.2", at("10.0.0.1", 1), at("10.0.0.2", 2), at("127.0.0.1", 3)))
        .isEqualTo(at("10.0.0.2", 2));
    assertThat(own(null, "10.9.9.9", at("127.0.0.1", 3))).isEqualTo(at("127.0.0.1", 3));
  }

  @Test
  void anExplicitAddressComesFirstWithItsListedPort() throws IOException {
    assertThat(own(HostPort.parse("10.0.0.1"), "10.0.0.2", at("10.0.0.1", 1), at("10.0.0.2", 2)))
        .isEqualTo(at("10.0.0.1", 1));
    assertThat(own(HostPort.parse("10.0.0.1:5"), "10.0.0.2", at("10.0.0.1", 1)))
        .isEqualTo(at("10.0.0.1", 5));
    assertThat(own(HostPort.parse("10.0.0.3"), "10.0.0.2", at("10.0.0.1", 1)))
        .isEqualTo(at("10.0.0.3", 7800));
  }

  @Test
  void severalLocalAddressesNeedAnExplicitOne() {
    assertThatThrownBy(() -> own(null, "10.0.0.2", at("127.0.0.1", 1), at("127.0.0.2", 1)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(
            "The peers 127.0.0.1:1, 127.0.0.2:1 are all addresses of this host");
  }

  @Test
  void hostsMeetInADirectoryAndStaleFilesAreRemoved() throws IOException {
    DirectoryDiscovery meeting = new DirectoryDiscovery(directory.resolve("new"), logged::add);
    Set<InetSocketAddress> both = Set.of(at("127.0.0.1", 1), at("127.0.0.2", 2));

    assertThat(meeting.visit(at("127.0.0.1", 1))).containsExactly(at("127.0.0.1", 1));
    assertThat(meeting.visit(at("127.0.0.2", 2))).containsExactlyInAnyOrderElementsOf(both);
    Path strange = Files.writeString(directory.resolve("new/strange.peer"), "not a host at all");
    assertThat(meeting.visit(at("127.0.0.1", 1))).containsExactlyInAnyOrderElementsOf(both);

    Path old = directory.resolve("new/127.0.0.2_2.peer");
    Files.setLastModifiedTime(old, FileTime.fromMillis(0));
    assertThat(meeting.visit(at("127.0.0.1", 1))).containsExactly(at("127.0.0.1", 1));
    assertThat(old).doesNotExist();
    assertThat(strange).exists();

    meeting.leave(at("127.0.0.1", 1));
    assertThat(directory.resolve("new/127.0.0.1_1.peer")).doesNotExist();
  }

  private Path meeting() throws IOException {
    return Files.createDirectories(directory.resolve("meeting"));
  }

  private static void makeFifo(Path at) throws IOException, InterruptedException {
    assertThat(new ProcessBuilder("mkfifo", at.toString()).start().waitFor()).isZero();
  }

  @Test
  void aLinkInPlaceOfTheOwnFileIsReplacedAndNotWrittenThrough() throws IOException {
    Path victim = Files.writeString(directory.resolve("victim"), "precious");
    Path own = Files.createSymbolicLink(meeting().resolve("127.0.0.1_1.peer"), victim);
    Files.createSymbolicLink(meeting().resolve("127.0.0.1_1.peer.tmp"), victim);

    assertThat(new DirectoryDiscovery(meeting(), logged::add).visit(at("127.0.0.1", 1)))
        .containsExactly(at("127.0.0.1", 1));
    assertThat(victim).hasContent("precious");
    assertThat(own).hasContent("127.0.0.1:1");
    assertThat(Files.isSymbolicLink(own)).isFalse();
  }

  @Test
  void aLinkIsNotReadAndItsTargetIsNotRemoved() throws IOException {
    Path elsewhere = Files.writeString(directory.resolve("elsewhere"), "127.0.0.9:9");
    Path link = Files.createSymbolicLink(meeting().resolve("link.peer"), elsewhere);
    DirectoryDiscovery here = new DirectoryDiscovery(meeting(), logged::add);

    assertThat(here.visit(at("127.0.0.1", 1))).containsExactly(at("127.0.0.1", 1));
    Files.setLastModifiedTime(elsewhere, FileTime.fromMillis(0));
    assertThat(here.visit(at("127.0.0.1", 1))).containsExactly(at("127.0.0.1", 1));
    assertThat(elsewhere).exists();
    assertThat(link).exists();
    assertThat(logged).containsOnly(link + " is not a regular file of this user; it is ignored.");
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aFifoBlocksNobody() throws Exception {
    makeFifo(meeting().resolve("127.0.0.1_1.peer"));
    makeFifo(meeting().resolve("127.0.0.2_2.peer"));
    makeFifo(meeting().resolve("127.0.0.1_1.peer.tmp"));

    assertThat(new DirectoryDiscovery(meeting(), logged::add).visit(at("127.0.0.1", 1)))
        .containsExactly(at("127.0.0.1", 1));
    assertThat(meeting().resolve("127.0.0.1_1.peer")).isRegularFile();
  }

  /** Between the check and the open, another process may replace the file. */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aFifoThatReplacesACheckedFileBlocksNobody() throws Exception {
    Path fifo = meeting().resolve("fifo");
    makeFifo(fifo);
    assertThatThrownBy(() -> DirectoryDiscovery.content(fifo)).isInstanceOf(IOException.class);
    Path link = Files.createSymbolicLink(meeting().resolve("link"), fifo);
    assertThatThrownBy(() -> DirectoryDiscovery.content(link)).isInstanceOf(IOException.class);
  }

  @Test
  void anotherUsersFileIsNeitherReadNorRemoved() throws IOException {
    assumeTrue(Machine.user() == 0, "only root can give a file to another user");
    Path foreign = Files.writeString(meeting().resolve("foreign.peer"), "127.0.0.9:9");
    Files.setAttribute(foreign, "unix:uid", 12_345);
    DirectoryDiscovery here = new DirectoryDiscovery(meeting(), logged::add);

    assertThat(here.visit(at("127.0.0.1", 1))).containsExactly(at("127.0.0.1", 1));
    Files.setLastModifiedTime(foreign, FileTime.fromMillis(0));
    here.visit(at("127.0.0.1", 1));
    assertThat(foreign).exists();
    assertThat(logged)
        .containsOnly(foreign + " is not a regular file of this user; it is ignored.");
  }

  @Test
  void anUnusableDirectoryIsReportedInOneSentence() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");

    assertThatThrownBy(() -> new DirectoryDiscovery(file, logged::add).visit(at("127.0.0.1", 1)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("peer=file:" + file + " cannot be used");
  }
}
