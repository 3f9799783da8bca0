package io.coordl.benchmarks.partition;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A plain Netty transfer of frames with a length and a request number. The server sends items from
 * its memory without a copy. All requesting threads share one connection, and each waits for its
 * own reply.
 */
@SuppressWarnings("FutureReturnValueIgnored") // If a write fails, the reply never comes.
final class NettyTransfer implements Transfer {
  private static final int MAX_BYTES = 16 << 20;

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Map<Integer, CompletableFuture<byte[]>> pending = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final Channel channel;

  NettyTransfer(InetSocketAddress server) throws InterruptedException {
    channel =
        new Bootstrap()
            .group(group)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(
                ChannelOption.RECVBUF_ALLOCATOR,
                new AdaptiveRecvByteBufAllocator(4096, 262_144, 1 << 20))
            .handler(frames(new ReplyHandler()))
            .connect(server)
            .sync()
            .channel();
  }

  static void serve(InetSocketAddress at, Items items) throws InterruptedException {
    ByteBuffer[] all = items.direct();
    new ServerBootstrap()
        .group(new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory()))
        .channel(NioServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel peer) {
                peer.pipeline().addLast(frame(), new RequestHandler(all));
              }
            })
        .bind(at)
        .sync();
  }

  private static ChannelInitializer<Channel> frames(SimpleChannelInboundHandler<ByteBuf> last) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel peer) {
        peer.pipeline().addLast(frame(), last);
      }
    };
  }

  private static LengthFieldBasedFrameDecoder frame() {
    return new LengthFieldBasedFrameDecoder(MAX_BYTES, 0, 4, 0, 4);
  }

  @Override
  public int get(int item) throws Exception {
    int number = numbers.incrementAndGet();
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    pending.put(number, reply);
    channel.writeAndFlush(
        channel.alloc().directBuffer(12).writeInt(8).writeInt(number).writeInt(item));
    byte[] content = reply.get();
    return Items.ends(content[0], content[content.length - 1]);
  }

  @Override
  public void close() {
    group.shutdownGracefully();
  }

  private static final class RequestHandler extends SimpleChannelInboundHandler<ByteBuf> {
    private final ByteBuffer[] all;

    RequestHandler(ByteBuffer[] all) {
      this.all = all;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf request) {
      int number = request.readInt();
      ByteBuffer item = all[request.readInt()].duplicate();
      context.write(
          context.alloc().directBuffer(8).writeInt(4 + item.remaining()).writeInt(number));
      context.writeAndFlush(Unpooled.wrappedBuffer(item));
    }
  }

  private final class ReplyHandler extends SimpleChannelInboundHandler<ByteBuf> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      CompletableFuture<byte[]> reply = pending.remove(frame.readInt());
      byte[] content = new byte[frame.readableBytes()];
      frame.readBytes(content);
      if (reply != null) {
        reply.complete(content);
      }
    }
  }
}
