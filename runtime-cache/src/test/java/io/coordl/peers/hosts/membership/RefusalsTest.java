package io.coordl.peers.hosts.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.telemetry.log.OnceLog;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Refusals are logged, but strangers cannot fill the job's log. */
final class RefusalsTest {
  private final List<String> logged = new ArrayList<>();
  private final Refusals refusals = new Refusals();

  private void refuse(int stranger) throws UnknownHostException {
    InetAddress address = InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) stranger});
    Socket socket =
        new Socket() {
          @Override
          public InetAddress getInetAddress() {
            return address;
          }
        };
    refusals.warn("a connection failed", socket, new IOException("garbage"));
  }

  @Test
  void eightStrangersAreLoggedOnceEach() throws Exception {
    refusals.logTo(new OnceLog(logged::add));
    for (int stranger = 1; stranger <= 20; stranger++) {
      refuse(stranger);
      refuse(stranger);
    }
    assertThat(logged)
        .hasSize(8)
        .doesNotHaveDuplicates()
        .allMatch(line -> line.startsWith("A connection from 10.0.0."));
  }

  @Test
  void aRefusalBeforeTheLogIsSetIsLoggedTheNextTime() throws Exception {
    refuse(1);
    refusals.logTo(new OnceLog(logged::add));
    refuse(1);
    assertThat(logged)
        .containsExactly(
            "A connection from 10.0.0.1 did not speak this version of the peers' protocol; it was"
                + " closed.");
  }
}
