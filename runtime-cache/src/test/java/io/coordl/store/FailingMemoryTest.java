package io.coordl.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coordl.items.ItemKey;
import io.coordl.telemetry.advice.Text.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory that disappears, refuses a write, or is accessed out of bounds. */
class FailingMemoryTest {
  private static final ItemKey KEPT = Items.key(1);
  private static final ItemKey NEW = Items.key(2);
  private static final String DAMAGED =
      "The memory of the cache was damaged by another program (gone): nothing is cached any more,"
          + " and storage is read.";

  /** Behaves like a mapped file, with the failures that the test sets. */
  private static final class Memory extends WrappedMemory {
    private boolean gone;
    private boolean outOfBounds;
    private boolean full;
    private int closed;

    Memory() {
      super(new DirectMemory(1 << 20));
    }

    @Override
    ByteBuffer segment(int number) {
      if (outOfBounds) {
        throw new IndexOutOfBoundsException("wrong");
      }
      check(0);
      return memory.segment(number);
    }

    @Override
    void check(long at) {
      if (gone) {
        throw new InternalError("gone");
      }
    }

    @Override
    void write(long at, byte[] bytes, int offset, int length) throws IOException {
      if (full) {
        throw new IOException("full");
      }
      memory.write(at, bytes, offset, length);
    }

    @Override
    public void close() {
      closed++;
    }
  }

  /** Requests to a store. */
  private enum Request {
    FIND {
      @Override
      boolean answers(ArenaStore store) {
        return store.find(KEPT) != null;
      }
    },
    FETCH {
      @Override
      boolean answers(ArenaStore store) throws IOException {
        Fetched fetched = store.fetch(NEW, 1, (target, offset) -> true);
        return fetched.outcome() != Outcome.FULL || fetched.content() != null;
      }
    },
    AWAIT {
      @Override
      boolean answers(ArenaStore store) {
        return store.isAwaited(NEW);
      }
    },
    COUNT {
      @Override
      boolean answers(ArenaStore store) {
        return store.items() != 0;
      }
    },
    COUNT_DECODED {
      @Override
      boolean answers(ArenaStore store) {
        store.count(ArenaDescriptor.DECODED_ITEMS, 8);
        return false;
      }
    },
    CHOOSE {
      @Override
      boolean answers(ArenaStore store) {
        store.choose(new Rates(1, 2, 3, 4));
        return false;
      }
    },
    RATES {
      @Override
      boolean answers(ArenaStore store) {
        return store.rates() != null;
      }
    };

    abstract boolean answers(ArenaStore store) throws IOException;
  }

  private final List<String> logged = new ArrayList<>();
  private final Memory memory = new Memory();
  private ArenaStore store;

  @BeforeEach
  void open() throws IOException {
    ArenaStore.format(memory);
    store = new ArenaStore(memory, null, 1, job -> true, "", logged::add);
    store.measureBy(before -> false);
    store.fetch(KEPT, Items.length(1), Items.loader(1));
  }

  /** Adds another job's claim, for {@link Request#AWAIT}. */
  private void claimNew() {
    long slot = ArenaDescriptor.HEADER_BYTES + 8L * (NEW.high() & 4095);
    memory.set(slot, ArenaDescriptor.claimed(7, NEW));
  }

  @ParameterizedTest
  @EnumSource(Request.class)
  void aStoreWithoutMemoryServesNothingAndLogsThatOnce(Request request) throws IOException {
    if (request == Request.AWAIT) {
      claimNew();
      assertThat(request.answers(store)).isTrue();
    }
    memory.gone = true;
    assertThat(request.answers(store)).isFalse();
    assertThat(logged).containsExactly(DAMAGED);
    for (Request next : Request.values()) {
      assertThat(next.answers(store)).as("%s", next).isFalse();
    }
    memory.gone = false;
    assertThat(store.find(KEPT)).isNull();
    assertThat(logged).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource(Request.class)
  void aClosedStoreLogsNothingAboutItsMemory(Request request) throws IOException {
    store.close();
    memory.gone = true;
    assertThat(request.answers(store)).isFalse();
    assertThat(logged).isEmpty();
    assertThat(memory.closed).isEqualTo(1);
    store.close();
    assertThat(memory.closed).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(
      value = Request.class,
      names = {"FIND", "FETCH", "AWAIT"})
  void aWrongOffsetInSoundMemoryThrows(Request request) {
    memory.outOfBounds = true;
    assertThatThrownBy(() -> request.answers(store))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("wrong");
    assertThat(logged).isEmpty();
    memory.outOfBounds = false;
    assertThat(store.find(KEPT)).isNotNull();
  }

  @ParameterizedTest
  @EnumSource(
      value = Request.class,
      names = {"FIND", "FETCH", "AWAIT"})
  void aWrongOffsetInLostMemoryDoesNotThrow(Request request) throws IOException {
    memory.outOfBounds = true;
    memory.gone = true;
    assertThat(request.answers(store)).isFalse();
    assertThat(logged).containsExactly(DAMAGED);
  }

  @Test
  void anItemThatMemoryRefusesIsServedAndAdmissionStops() throws IOException {
    memory.full = true;
    Fetched refused = store.fetch(NEW, Items.length(2), Items.loader(2));
    assertThat(refused.outcome()).isEqualTo(Outcome.FULL);
    assertThat(Items.bytes(refused.content())).isEqualTo(Items.content(2));
    assertThat(store.find(NEW)).isNull();
    memory.full = false;
    assertThat(store.fetch(NEW, Items.length(2), Items.loader(2)).content()).isNull();
    assertThat(store.find(KEPT)).isNotNull();
    assertThat(logged)
        .containsExactly(
            "There is no memory left for the cache's budget: the cache keeps its contents, "
                + new Bytes(store.used())
                + " of 1.0 MiB; nothing more is admitted.");
  }

  @Test
  void aTableThatMemoryRefusesStopsAdmission() throws IOException {
    memory.set(ArenaDescriptor.tableFill(0), ArenaDescriptor.fillLimit(0));
    memory.full = true;
    Fetched refused = store.fetch(NEW, Items.length(2), Items.loader(2));
    assertThat(refused.outcome()).isEqualTo(Outcome.FULL);
    assertThat(refused.content()).isNull();
    assertThat(memory.get(ArenaDescriptor.TABLES)).isEqualTo(1);
    memory.full = false;
    assertThat(store.hasRoom(1)).isFalse();
    assertThat(store.find(KEPT)).isNotNull();
  }

  /** The file is already closed, so the refusal does not mean that memory is short. */
  @Test
  void anItemReadWhileTheStoreClosesIsServed() throws IOException {
    Fetched fetched =
        store.fetch(
            NEW,
            Items.length(2),
            (target, offset) -> {
              store.close();
              memory.full = true;
              return Items.loader(2).load(target, offset);
            });
    assertThat(fetched.outcome()).isEqualTo(Outcome.FULL);
    assertThat(Items.bytes(fetched.content())).isEqualTo(Items.content(2));
    assertThat(memory.get(ArenaDescriptor.REFUSING)).isZero();
  }
}
