package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.peers.hosts.Member;
import io.coordl.peers.hosts.membership.ViewFile.View;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Member data: the hello on the wire, the roster with its grace period, and the view file. */
final class RosterTest {
  private static final Member A = member("10.0.0.1:7800", 10);
  private static final Member B = member("10.0.0.2:7800", 20);

  @TempDir Path directory;

  private static Member member(String name, long capacity) {
    return new Member(name, new InetSocketAddress(name.split(":", -1)[0], 7801), capacity);
  }

  @Test
  void aVanishedMemberStaysForTheGracePeriod() {
    Roster roster = new Roster(List.of(), 0, 100);
    roster.see(List.of(B, A), 0);
    assertThat(roster.members(1_000)).containsExactly(A, B);
    roster.see(List.of(A), 1_000);
    assertThat(roster.members(1_100)).containsExactly(A, B);
    assertThat(roster.members(1_101)).containsExactly(A);
  }

  @Test
  void aMemberBackWithinTheGracePeriodNeverLeft() {
    Roster roster = new Roster(List.of(), 0, 100);
    roster.see(List.of(A, B), 0);
    roster.see(List.of(A), 10);
    roster.see(List.of(A, B), 90);
    assertThat(roster.members(10_000)).containsExactly(A, B);
  }

  @Test
  void aNewLeaderStartsWithTheLastView() {
    Roster roster = new Roster(List.of(A, B), 50, 100);
    roster.see(List.of(A), 60);
    assertThat(roster.members(150)).containsExactly(A, B);
    assertThat(roster.members(151)).containsExactly(A);
  }

  @Test
  void ifTwoMembersHaveOneNameTheLaterOneApplies() {
    Member again = member(A.name(), 11);
    Roster roster = new Roster(List.of(), 0, 100);
    roster.see(List.of(A, B, again), 0);
    assertThat(roster.members(0)).containsExactly(again, B);
  }

  @Test
  void aTruncatedHelloIsNotDecodedAndADamagedOneDoesNotThrow() {
    byte[] bytes = Hello.of(B, "vision").encode();
    assertThat(bytes.length).isLessThanOrEqualTo(255);
    Hello decoded = Hello.decode(bytes);
    assertThat(decoded).isEqualTo(Hello.of(B, "vision")).isNotEqualTo(Hello.of(B, "other"));
    assertThat(decoded.member()).isEqualTo(B);

    assertThat(Hello.decode(null)).isNull();
    for (int length = 0; length < bytes.length; length++) {
      assertThat(Hello.decode(Arrays.copyOf(bytes, length))).as("%d bytes", length).isNull();
    }
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      byte[] damaged = bytes.clone();
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      Hello.decode(damaged); // May decode to anything, but must not throw.
    }
  }

  @Test
  void aHelloOfAnotherVersionYieldsTheName() {
    byte[] bytes = Hello.of(B, "vision").encode();
    bytes[0] = 7;
    assertThat(Hello.decode(bytes)).isEqualTo(new Hello(7, B.name(), 0, null));
  }

  @Test
  void viewsRoundTrip() throws IOException {
    Path path = Files.createFile(directory.resolve("view"));
    try (ViewFile file = ViewFile.map(path, ViewFile.BYTES)) {
      assertThat(file.read()).isNull();
      List<Member> members = new ArrayList<>();
      for (int i = 0; i < 256; i++) {
        members.add(member("10.0.0." + i + ":7800", Long.MAX_VALUE - i));
        View view = new View(members.get(0).name(), members);
        file.write(view);
        assertThat(file.read()).isEqualTo(view);
      }
      assertThat(file.sequence()).isEqualTo(256);
    }
  }

  @Test
  void aReaderNeverSeesHalfAView() throws Exception {
    Path path = Files.createFile(directory.resolve("view"));
    try (ViewFile writer = ViewFile.map(path, ViewFile.BYTES);
        ViewFile reader = ViewFile.map(path, ViewFile.BYTES)) {
      View one = new View("a", List.of(A));
      View two = new View("b", List.of(A, B));
      Thread writing =
          new Thread(
              () -> {
                for (int i = 0; i < 200_000; i++) {
                  writer.write(i % 2 == 0 ? one : two);
                }
              });
      writing.start();
      int seen = 0;
      while (writing.isAlive() || seen == 0) {
        View view = reader.read();
        if (view != null) {
          assertThat(view).isIn(one, two);
          seen++;
        }
      }
      writing.join();
      assertThat(reader.read()).isEqualTo(two);
    }
  }
}
