package io.coordl.benchmarks.partition;

import java.io.ByteArrayInputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.blocks.MessageDispatcher;
import org.jgroups.blocks.RequestOptions;

/**
 * Requests and replies over JGroups' own data path, configured for large replies: a 4 MiB bundler
 * per receiver, replies out of band and without flow control.
 */
final class JgroupsTransfer implements Transfer {
  private static final String STACK =
      """
      <config xmlns="urn:org:jgroups">
        <TCP bind_addr="127.0.0.1" bind_port="%d" port_range="0" enable_suspect_events="true"
             thread_pool.min_threads="0" thread_pool.max_threads="64" recv_buf_size="0"
             send_buf_size="0" tcp_nodelay="true" bundler_type="per-destination"
             bundler.max_size="4m" diag.enabled="false"/>
        <TCPPING initial_hosts="127.0.0.1[%d]" port_range="0"/>
        <MERGE3/>
        <FD_ALL3 timeout="8000" interval="2000"/>
        <VERIFY_SUSPECT2 timeout="300"/>
        <pbcast.NAKACK2 use_mcast_xmit="false"/>
        <UNICAST3/>
        <pbcast.STABLE/>
        <pbcast.GMS print_local_addr="false" join_timeout="300"/>
        <UFC max_credits="32m" min_threshold="0.40"/>
        <FRAG4 frag_size="2m"/>
      </config>
      """;

  private static final Message.Flag[] REPLY_FLAGS = {
    Message.Flag.OOB, Message.Flag.DONT_BUNDLE, Message.Flag.NO_FC
  };

  private final JChannel channel;
  private final MessageDispatcher dispatcher;
  private final Address server;

  JgroupsTransfer(InetSocketAddress at) throws Exception {
    channel = connect(at.getPort() + 1, at.getPort());
    dispatcher = new MessageDispatcher(channel);
    while (channel.getView().size() < 2) {
      Thread.sleep(10);
    }
    Address own = channel.getAddress();
    server =
        channel.getView().getMembers().stream()
            .filter(member -> !member.equals(own))
            .findFirst()
            .orElseThrow();
  }

  private static JChannel connect(int port, int first) throws Exception {
    byte[] stack = STACK.formatted(port, first).getBytes(StandardCharsets.UTF_8);
    return new JChannel(new ByteArrayInputStream(stack)).connect("benchmark");
  }

  static void serve(InetSocketAddress at, Items items) throws Exception {
    ByteBuffer[] all = items.direct();
    JChannel channel = connect(at.getPort(), at.getPort());
    new MessageDispatcher(
        channel,
        request -> {
          ByteBuffer item =
              all[ByteBuffer.wrap(request.getArray(), request.getOffset(), 4).getInt()];
          byte[] copy = new byte[item.remaining()];
          item.get(0, copy);
          return new BytesMessage(request.getSrc(), copy).setFlag(REPLY_FLAGS);
        });
  }

  @Override
  public int get(int item) throws Exception {
    BytesMessage request = new BytesMessage(server, ByteBuffer.allocate(4).putInt(0, item).array());
    BytesMessage reply =
        dispatcher.sendMessage(request, RequestOptions.SYNC().flags(Message.Flag.OOB));
    return Items.ends(ByteBuffer.wrap(reply.getArray(), reply.getOffset(), reply.getLength()));
  }

  @Override
  public void close() {
    channel.close();
  }
}
