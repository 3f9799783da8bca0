package io.coordl.library.dl4j;

import io.coordl.bridge.InterceptedCall;
import io.coordl.bridge.LibraryHooks;
import io.coordl.host.MemoryWatch;
import io.coordl.pipeline.LibraryField;
import io.coordl.pipeline.Services;
import io.coordl.pipeline.Symbols;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import org.bytedeco.javacpp.Pointer;
import org.jspecify.annotations.Nullable;
import org.nd4j.linalg.api.memory.abstracts.Nd4jWorkspace;
import org.nd4j.linalg.api.memory.enums.LocationPolicy;
import org.nd4j.linalg.api.memory.enums.MemoryKind;
import org.nd4j.linalg.api.memory.pointers.PagedPointer;
import org.nd4j.linalg.api.memory.pointers.PointersPair;
import org.nd4j.linalg.factory.Nd4j;

/**
 * The memory in which DL4J prefetches batches for {@code fit}. Each epoch has a new iterator, which
 * allocates this memory (four batches), writes zeros to it and frees it at the end. If batches come
 * from a cache, the page faults of new memory take most of an epoch. So the memory of an iterator
 * that has ended is zeroed again and passed to the next iterator, if that needs the same size.
 *
 * <p>At most one block is held: from the end of an iterator until the next one allocates its
 * memory. It is freed if the next one needs another size, if none takes it for ten minutes, or if
 * memory becomes short ({@link MemoryWatch}).
 */
public final class IteratorWorkspaces implements LibraryHooks, MemoryWatch.Holder {
  /** Smaller blocks cause few page faults. */
  private static final long MIN_BYTES = 4 << 20;

  /** Two evaluations that use such memory may be a long epoch apart. */
  private static final long MAX_IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

  /** Bytes that {@code CpuWorkspace.init} allocates beyond the workspace's size. */
  private static final long OFFSET = 1024;

  private final LibraryField<PointersPair> pointers;

  /** Sizes of the blocks of iterators' workspaces, in bytes. */
  private final Map<Nd4jWorkspace, Long> blocks = Collections.synchronizedMap(new WeakHashMap<>());

  /** Bytes that this thread is about to allocate for an iterator's workspace; null if none. */
  private final ThreadLocal<@Nullable Long> wanted = ThreadLocal.withInitial(() -> null);

  private @Nullable Pointer spare;
  private long held;
  private long heldSince;

  /** In a profile, no memory is reused: its phases must wait for memory as the job does. */
  private final boolean inProfile;

  private boolean ended;

  public IteratorWorkspaces(Class<?> workspace, Services services)
      throws ReflectiveOperationException {
    Symbols.require(IteratorWorkspaces.class);
    pointers =
        new LibraryField<>(
            Symbols.field(workspace, "workspace", PointersPair.class), PointersPair.class);
    inProfile = services.profile() != null;
    services.holders().accept(this);
  }

  @Override
  public @Nullable InterceptedCall enter(
      String interceptor, Class<?> type, String method, Object self, Object[] arguments) {
    return switch (method) {
      case "allocate" ->
          allocated(
              (Long) arguments[0], (MemoryKind) arguments[1], Boolean.TRUE.equals(arguments[2]));
      case "init" -> begun((Nd4jWorkspace) self);
      default -> {
        ended((Nd4jWorkspace) self);
        yield null;
      }
    };
  }

  /** Whether a workspace belongs to an iterator that prefetches, and lies in ordinary memory. */
  private static boolean isOfIterator(Nd4jWorkspace workspace) {
    String name = workspace.getId();
    return name != null
        && (name.startsWith("ADSI_ITER-") || name.startsWith("AMDSI_ITER-"))
        && workspace.getWorkspaceConfiguration().getPolicyLocation() == LocationPolicy.RAM;
  }

  private @Nullable InterceptedCall begun(Nd4jWorkspace workspace) {
    blocks.remove(workspace);
    long size = workspace.getCurrentSize();
    if (inProfile || size < MIN_BYTES || !isOfIterator(workspace)) {
      return null;
    }
    long bytes = size + OFFSET;
    wanted.set(bytes);
    return InterceptedCall.after(
        own -> {
          // Null if the library has allocated as many bytes as expected.
          if (wanted.get() == null) {
            blocks.put(workspace, bytes);
          }
          wanted.remove();
          return own;
        });
  }

  private @Nullable InterceptedCall allocated(long bytes, MemoryKind kind, boolean zeroed) {
    Long expected = wanted.get();
    if (expected == null || expected != bytes || kind != MemoryKind.HOST || !zeroed) {
      return null;
    }
    wanted.remove();
    Pointer block = take(bytes);
    return block == null ? null : new InterceptedCall(Pointer.memset(block, 0, bytes));
  }

  /** Returns the spare block if it has this size; otherwise frees it. */
  private @Nullable Pointer take(long bytes) {
    Pointer taken;
    boolean fits;
    synchronized (this) {
      fits = held == bytes;
      taken = remove();
    }
    if (taken != null && !fits) {
      free(taken);
      return null;
    }
    return taken;
  }

  private synchronized @Nullable Pointer remove() {
    Pointer removed = spare;
    spare = null;
    held = 0;
    return removed;
  }

  /** Exchanges the workspace's block for a tiny one, which the library then frees. */
  private void ended(Nd4jWorkspace workspace) {
    Long bytes = blocks.remove(workspace);
    PointersPair pair = bytes == null ? null : pointers.get(workspace);
    PagedPointer block = pair == null ? null : pair.getHostPointer();
    if (bytes == null || pair == null || block == null) {
      return;
    }
    Pointer former;
    synchronized (this) {
      if (ended || block.address() == 0 || isNearLimit()) {
        return;
      }
      PagedPointer tiny =
          new PagedPointer(Nd4j.getMemoryManager().allocate(OFFSET, MemoryKind.HOST, false));
      former = spare;
      spare = block;
      held = bytes;
      heldSince = System.nanoTime();
      pair.setHostPointer(tiny);
    }
    if (former != null) {
      free(former);
    }
  }

  /**
   * Whether the process nears JavaCPP's own limit, beyond which allocations of the program wait for
   * garbage collections and then fail.
   */
  private static boolean isNearLimit() {
    long limit = Pointer.maxPhysicalBytes();
    return limit > 0 && Pointer.physicalBytes() > limit / 2;
  }

  /** Frees the memory if no iterator has taken it for ten minutes. */
  @Override
  public boolean follow() {
    Pointer unused = null;
    synchronized (this) {
      if (spare != null && System.nanoTime() - heldSince > MAX_IDLE_NANOS) {
        unused = remove();
      }
    }
    if (unused != null) {
      free(unused);
    }
    return false;
  }

  private static void free(Pointer block) {
    Nd4j.getMemoryManager().release(block, MemoryKind.HOST);
  }

  @Override
  public String noun() {
    return "memory for DL4J's prefetched batches";
  }

  @Override
  public String argument() {
    return "decoded or prepared";
  }

  @Override
  public boolean yields() {
    return true;
  }

  @Override
  public synchronized long held() {
    return held;
  }

  @Override
  public long giveBack(long bytes) {
    Pointer block;
    long given;
    synchronized (this) {
      ended = true;
      given = held;
      block = remove();
    }
    if (block != null) {
      free(block);
    }
    return given;
  }
}
