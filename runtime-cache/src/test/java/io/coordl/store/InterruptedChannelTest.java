package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.coordl.bridge.Bridge;
import io.coordl.bridge.FaultListener;
import io.coordl.bridge.FileReads;
import io.coordl.bridge.ItemSource;
import io.coordl.bridge.SpanSink;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The agent's channels treat an interrupted thread as the JDK's channel does. */
class InterruptedChannelTest {
  private static final int SIZE = 5000;

  @TempDir Path directory;
  @TempDir Path arena;
  private ArenaStore store;

  private enum Method {
    READ,
    READ_NOTHING,
    READ_DIRECT,
    READ_SCATTERED,
    READ_SCATTERED_NOWHERE,
    READ_AT,
    READ_AT_THE_END,
    READ_AT_NO_PLACE,
    GET_SIZE,
    GET_POSITION,
    MOVE,
    MOVE_NOWHERE,
    TRANSFER_TO,
    TRANSFER_NOTHING,
    TRANSFER_PAST_THE_END,
    MAP,
    MAP_NOTHING,
    MAP_TO_WRITE,
    LOCK,
    LOCK_TO_WRITE,
    TRY_LOCK,
    FORCE,
    WRITE,
    TRUNCATE,
    TRANSFER_FROM,
    CLOSE;

    Object on(FileChannel channel) throws IOException {
      return switch (this) {
        case READ -> channel.read(ByteBuffer.allocate(10));
        case READ_NOTHING -> channel.read(ByteBuffer.allocate(0));
        case READ_DIRECT -> channel.read(ByteBuffer.allocateDirect(10));
        case READ_SCATTERED -> channel.read(new ByteBuffer[] {ByteBuffer.allocate(10)});
        case READ_SCATTERED_NOWHERE -> channel.read(new ByteBuffer[0]);
        case READ_AT -> channel.read(ByteBuffer.allocate(10), 100);
        case READ_AT_THE_END -> channel.read(ByteBuffer.allocate(10), SIZE);
        case READ_AT_NO_PLACE -> channel.read(ByteBuffer.allocate(10), -1);
        case GET_SIZE -> channel.size();
        case GET_POSITION -> channel.position();
        case MOVE -> channel.position(10) == channel;
        case MOVE_NOWHERE -> channel.position(-10);
        case TRANSFER_TO -> channel.transferTo(0, 10, sink());
        case TRANSFER_NOTHING -> channel.transferTo(0, 0, sink());
        case TRANSFER_PAST_THE_END -> channel.transferTo(SIZE + 1, 10, sink());
        case MAP -> channel.map(MapMode.READ_ONLY, 0, 10).capacity();
        case MAP_NOTHING -> channel.map(MapMode.READ_ONLY, 0, 0).capacity();
        case MAP_TO_WRITE -> channel.map(MapMode.READ_WRITE, 0, 10).capacity();
        case LOCK -> channel.lock(0, 10, true) != null;
        case LOCK_TO_WRITE -> channel.lock() != null;
        case TRY_LOCK -> channel.tryLock(0, 10, true) != null;
        case FORCE -> {
          channel.force(false);
          yield "forced";
        }
        case WRITE -> channel.write(ByteBuffer.allocate(1));
        case TRUNCATE -> channel.truncate(1);
        case TRANSFER_FROM ->
            channel.transferFrom(Channels.newChannel(InputStream.nullInputStream()), 0, 1);
        case CLOSE -> {
          channel.close();
          yield "closed";
        }
      };
    }

    private static WritableByteChannel sink() {
      return Channels.newChannel(OutputStream.nullOutputStream());
    }
  }

  /** The source of the channel's bytes. */
  private enum Source {
    MEMORY,
    STORE_THAT_KEEPS,
    FULL_STORE,
    OBSERVED
  }

  private void install(Source source) {
    if (source != Source.OBSERVED) {
      store = ArenaStore.openProcess(arena, ByteBudget.parse("8m"), line -> {});
    }
    Bridge.install(SpanSink.NONE, new MinioCache(store, path -> true), FaultListener.NONE);
  }

  @AfterEach
  void uninstall() {
    Bridge.install(SpanSink.NONE, ItemSource.NONE, FaultListener.NONE);
    if (store != null) {
      store.close();
      store = null;
    }
  }

  @ParameterizedTest
  @EnumSource(Method.class)
  void anInterruptedThreadGetsThePlainChannelsResult(Method method) throws IOException {
    Path path = Items.file(directory, "item", SIZE);
    String expected = outcome(FileChannel.open(path, StandardOpenOption.READ), method);
    for (Source source : Source.values()) {
      install(source);
      if (source == Source.MEMORY) {
        assertThat(FileReads.readAllBytes(path)).isEqualTo(Files.readAllBytes(path));
      } else if (source == Source.FULL_STORE) {
        store.measureBy(before -> true);
      }
      assertThat(outcome(FileReads.open(path), method)).as("%s", source).isEqualTo(expected);
      uninstall();
    }
  }

  private static String outcome(FileChannel channel, Method method) throws IOException {
    Object result;
    Thread.currentThread().interrupt();
    try {
      result = method.on(channel);
    } catch (IOException | RuntimeException e) {
      result = e.getClass().getName();
    }
    boolean interrupted = Thread.interrupted();
    String outcome = result + ", open " + channel.isOpen() + ", interrupted " + interrupted;
    channel.close();
    return outcome;
  }
}
