package io.coordl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import org.junit.jupiter.api.Test;

/**
 * Finds every wait of the agent in its class files. Each unbounded wait must be listed here with
 * its reason, and each wait that JVM shutdown can reach must be listed with its bound.
 */
final class WaitsTest {
  /** Calls that may wait without a time-out: name with descriptor, and owner. */
  private static final Map<Pattern, Pattern> UNTIMED =
      Map.of(
          Pattern.compile("(wait|join|await|awaitUninterruptibly)\\(\\)[VI]"),
              Pattern.compile(".*"),
          Pattern.compile("(get|join)\\(\\)Ljava/lang/Object;"),
              Pattern.compile("java/.*Future\\w*"),
          Pattern.compile("park\\((Ljava/lang/Object;)?\\)V"),
              Pattern.compile("java/.*LockSupport"),
          Pattern.compile("(lock|lockInterruptibly|readLock|writeLock)\\(\\)[VJ].*"),
              Pattern.compile("java/.*Lock(\\$\\w+)?"),
          Pattern.compile("acquire(Uninterruptibly)?\\(I?\\)V"),
              Pattern.compile("java/.*Semaphore"),
          Pattern.compile("(take|put|transfer)(First|Last)?\\(.*"),
              Pattern.compile("java/.*(Queue|Deque|CompletionService)"),
          Pattern.compile("(lock|waitFor|select|accept)\\(\\)(I|Ljava/(nio|net)/.*)"),
              Pattern.compile("java/.*"),
          Pattern.compile("invoke(All|Any)\\(Ljava/util/Collection;\\).*"),
              Pattern.compile("java/.*"),
          Pattern.compile("(getIntervalHistogram|flipPhase|reset).*"),
              Pattern.compile("org/HdrHistogram/.*(Recorder|Phaser)"));

  /** Calls with a time-out. */
  private static final Pattern TIMED =
      Pattern.compile(
          "(await|awaitTermination|awaitNanos|wait|timedWait|join|poll|offer|tryLock|tryAcquire|get"
              + "|parkNanos|parkUntil|waitFor|sleep|timedJoin|exchange)\\(.*J.*\\).*");

  private static final Pattern TIMED_OWNER =
      Pattern.compile(
          "java/lang/(Object|Thread|Process)|java/util/concurrent/.*"
              + "|io/coordl/host/(AgentThread|Uninterrupted)");

  /** Longer time-outs count as unbounded. */
  private static final long NO_BOUND = Long.MAX_VALUE / 4;

  /** Entry points of JVM shutdown. */
  private static final List<String> ENDS =
      List.of(
          "io/coordl/agent/install/Activation.finish(Lio/coordl/telemetry/recording/JobMonitor;)V",
          "io/coordl/agent/install/Activation.endWithoutLibrary()V");

  /** Calls that register their callers' lambdas for JVM shutdown. */
  private static final Pattern REGISTERS =
      Pattern.compile(
          ".*/Job(Monitor|Figures)\\.(addEnding|addPolicy|addStore|addStaging|addRequested|profile"
              + "|export)\\(.*|.*/Requested\\.register\\(.*"
              + "|java/lang/Runtime\\.addShutdownHook\\(.*");

  /** Waits without a bound, each with the reason why it does no harm. */
  private static final Map<String, String> UNBOUNDED =
      Map.of(
          "host/StorageCall.get", "the writer of a checkpoint, which JVM shutdown does not await",
          "telemetry/metrics/PrometheusServer.serve",
              "its own thread, which ends when the socket closes",
          "peers/hosts/PeerServer.accept", "its own thread, which ends when the socket closes",
          "peers/hosts/membership/Door.acceptClients",
              "its own thread, which ends when the socket closes",
          "profile/Gate.enter", "a profile admits threads in turns, and all of them when it ends",
          "profile/HostRates.inParallel", "a profile reads storage for as long as that takes",
          "host/LateFile.join", "for tests");

  /** Waits that JVM shutdown can reach, each with its bound; not those of other agent threads. */
  private static final Map<String, String> BOUNDS =
      Map.ofEntries(
          Map.entry("agent/install/Policies.end", "30 s for the exit that a profile has begun"),
          Map.entry("store/ArenaStore.fetchHere", "PATIENCE of the caller, then storage is read"),
          Map.entry("store/ArenaStore.grow", "PATIENCE for the job that appends a table"),
          Map.entry(
              "checkpoint/AgentCheckpoints.end", "checkpoint.grace, or less if steps are short"),
          Map.entry("checkpoint/ModelFiles.awaitAgentCheckpoint", "the rest of checkpoint.grace"),
          Map.entry(
              "peers/hosts/HostsEngine.gather",
              "timeouts.hosts(), once per job, before its first request"),
          Map.entry(
              "peers/hosts/HostsFetch.admitAt",
              "ArenaStore.PATIENCE for another thread's claim, or less after a fault"),
          Map.entry("peers/hosts/PeerServer.close", "LEAVE for replies in progress"),
          Map.entry(
              "peers/hosts/membership/HostMembership.close", "LEAVE_TIMEOUT, for the farewell"),
          Map.entry(
              "peers/redis/RedisEngine$Fetch.take", "ArenaStore.PATIENCE for another job's claim"),
          Map.entry("peers/redis/RedisEngine.awaitStart", "START_NANOS for the first connection"),
          Map.entry("pipeline/Prefetcher.end", "SECONDS_TO_END for a batch in progress"),
          Map.entry("host/Liveness.lockSetup", "the caller's time-out"),
          Map.entry("coordination/Clock$1.pause", "one poll of waiting jobs, each with a deadline"),
          Map.entry("coordination/Gate.close", "5 s for threads in shared memory"),
          Map.entry("coordination/PrepGroup.close", "LEAVE_NANOS, if another thread leaves"),
          Map.entry("host/AgentThread.await", "the caller's time-out"));

  private static final String NEW_THREAD = "io/coordl/host/AgentThread.<init>";

  private final Map<String, Code> methods = new HashMap<>();
  private final Map<String, Set<String>> subtypes = new HashMap<>();

  /** A method's calls and waits. */
  private static final class Code {
    final Set<String> calls = new TreeSet<>();
    final Set<String> lambdas = new TreeSet<>();
    final Set<String> untimed = new TreeSet<>();
    final Set<String> timed = new TreeSet<>();
    boolean unboundedTime;
  }

  private void read() throws IOException {
    for (String module : List.of("runtime-cache", "transformers", "agent")) {
      Path classes = Path.of("..", module, "target", "classes");
      try (Stream<Path> files = Files.walk(classes)) {
        for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
          new ClassReader(Files.readAllBytes(file)).accept(new Reader(), ClassReader.SKIP_DEBUG);
        }
      }
    }
  }

  private final class Reader extends ClassVisitor {
    private String own = "";

    Reader() {
      super(Opcodes.ASM9);
    }

    @Override
    public void visit(
        int version, int access, String name, String signature, String base, String[] interfaces) {
      own = name;
      Stream.concat(Stream.of(base), Stream.of(interfaces))
          .forEach(type -> subtypes.computeIfAbsent(type, first -> new HashSet<>()).add(name));
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String method, String descriptor, String signature, String[] exceptions) {
      Code code = new Code();
      methods.put(own + "." + method + descriptor, code);
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitMethodInsn(
            int opcode, String owner, String name, String called, boolean isInterface) {
          call(code, owner, name, called);
        }

        @Override
        public void visitInvokeDynamicInsn(
            String name, String called, Handle bootstrap, Object... arguments) {
          for (Object argument : arguments) {
            if (argument instanceof Handle handle) {
              call(code, handle.getOwner(), handle.getName(), handle.getDesc());
              code.lambdas.add(handle.getOwner() + "." + handle.getName() + handle.getDesc());
            }
          }
        }

        @Override
        public void visitLdcInsn(Object value) {
          code.unboundedTime |= value instanceof Long time && time >= NO_BOUND;
        }
      };
    }
  }

  private static void call(Code code, String owner, String name, String descriptor) {
    String called = name + descriptor;
    String shown = owner.substring(owner.lastIndexOf('/') + 1) + "." + name;
    if (UNTIMED.entrySet().stream()
        .anyMatch(
            rule ->
                rule.getKey().matcher(called).matches()
                    && rule.getValue().matcher(owner).matches()
                    && !owner.startsWith("io/coordl/"))) {
      code.untimed.add(shown);
    } else if (TIMED.matcher(called).matches() && TIMED_OWNER.matcher(owner).matches()) {
      code.timed.add(shown);
    }
    code.calls.add(owner + "." + called);
  }

  /** Returns the methods reachable from JVM shutdown, by every path that the class files allow. */
  private Set<String> reachedByShutdown() {
    Deque<String> open = new ArrayDeque<>(ENDS);
    methods.forEach(
        (name, code) -> {
          if (code.calls.stream().anyMatch(call -> REGISTERS.matcher(call).matches())) {
            open.addAll(code.lambdas);
          }
        });
    Set<String> reached = new HashSet<>();
    while (!open.isEmpty()) {
      String method = open.remove();
      Code code = methods.get(method);
      if (code == null || !reached.add(method)) {
        continue;
      }
      boolean begins = code.calls.stream().anyMatch(call -> call.startsWith(NEW_THREAD));
      for (String call : code.calls) {
        if (begins && code.lambdas.contains(call)) {
          continue; // Runs on another thread, which ends with the JVM.
        }
        int dot = call.indexOf('.');
        open.add(call);
        subtypesOf(call.substring(0, dot)).forEach(type -> open.add(type + call.substring(dot)));
      }
    }
    return reached;
  }

  private Set<String> subtypesOf(String type) {
    Set<String> all = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(subtypes.getOrDefault(type, Set.of()));
    while (!open.isEmpty()) {
      String one = open.remove();
      if (all.add(one)) {
        open.addAll(subtypes.getOrDefault(one, Set.of()));
      }
    }
    return all;
  }

  /** Returns a name such as {@code store/ArenaStore.grow}; a lambda gets the name of its method. */
  private static String shortName(String method) {
    return method
        .substring("io/coordl/".length(), method.indexOf('('))
        .replaceFirst("lambda\\$(\\w+)\\$\\d+$", "$1");
  }

  @Test
  void onlyListedWaitsAreUnbounded() throws IOException {
    read();
    Map<String, Set<String>> found = new TreeMap<>();
    methods.forEach(
        (name, code) -> {
          Set<String> waits = new TreeSet<>(code.untimed);
          if (code.unboundedTime) {
            waits.addAll(code.timed);
          }
          if (!waits.isEmpty()) {
            found.computeIfAbsent(shortName(name), first -> new TreeSet<>()).addAll(waits);
          }
        });

    assertThat(found.keySet())
        .as("waits without a bound: %s", found)
        .containsExactlyInAnyOrderElementsOf(UNBOUNDED.keySet());
  }

  @Test
  void everyWaitDuringShutdownHasAListedBound() throws IOException {
    read();
    Set<String> reached = reachedByShutdown();
    Map<String, Set<String>> found = new TreeMap<>();
    for (String name : reached) {
      Code code = methods.get(name);
      if (!code.timed.isEmpty()) {
        found.computeIfAbsent(shortName(name), first -> new TreeSet<>()).addAll(code.timed);
      }
    }

    assertThat(reached).as("methods found").hasSizeGreaterThan(500);
    assertThat(found.keySet())
        .as("waits during JVM shutdown: %s", found)
        .containsExactlyInAnyOrderElementsOf(BOUNDS.keySet());
    assertThat(reached.stream().map(WaitsTest::shortName))
        .doesNotContainAnyElementsOf(UNBOUNDED.keySet());
  }
}
