package io.coordl.purity;

import io.coordl.bridge.ForkableRandom;
import io.coordl.purity.Flow.Kept;
import io.coordl.purity.Flow.Literal;
import io.coordl.purity.Flow.Made;
import io.coordl.purity.Flow.Origin;
import io.coordl.purity.Flow.Plain;
import io.coordl.purity.Flow.Value;
import io.coordl.purity.MethodCode.Instruction;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.ConcurrentModificationException;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ConstantDynamic;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Proves that a pipeline yields the same batch if it runs before the program requests the batch,
 * and has no side effects if the program never does.
 *
 * <p><b>The rule.</b> Nothing that the pipeline's code reads changes while the program runs: every
 * field is final or set only during construction, and so are, recursively, the fields of the
 * objects it refers to. The code reads no clock, thread, locale, property or environment variable,
 * and no random generator except the library's. It writes nothing that outlives the call.
 *
 * <p><b>Code to analyse.</b> Every method that can run is analysed: those that can be called on the
 * objects that the pipeline keeps, and on the objects that analysed code creates; the static
 * methods that it calls; its lambdas; and the initialisers of classes that may not be initialised
 * yet. No other class can receive a call, because objects come from nowhere else: reflection,
 * method handles, service loaders and the like make the proof fail. So it does not matter which
 * implementations of an interface are loaded later.
 *
 * <p><b>Fields.</b> The classes that the program will load are unknown, but only the classes of a
 * nest can set its private fields, and the class file of the nest host lists them. So a field that
 * is not final must be private, and the analysis reads all class files of the nest. The field may
 * be set only in constructors of its own class, on {@code this}; in the static initialiser; or in a
 * method whose calls the library's adapter observes ({@link Known#isAnnounced}). Code may also set
 * fields of an object that exists only during a call, which is certain if the pipeline keeps no
 * object of its class. Any code can set a field that is neither final nor private, so such a field
 * makes the proof fail unless the caller compares its value before each call ({@link
 * Known#comparesFields}).
 *
 * <p><b>Objects.</b> The analysis follows objects from the pipeline through the current values of
 * their fields, which do not change. Immutable JDK values are known by class. The training loop may
 * share an array or a mutable collection. So the class that keeps it in a private field must also
 * have created it, and no method of the nest may change it or pass it to other code ({@link
 * FieldProof}).
 *
 * <p><b>Confined objects.</b> Code outside the program can call a method on an object only if it
 * gets the object, and it never gets a confined object: analysed code reads a confined object from
 * fields of the program and only uses the object's fields and methods ({@link Confined}). Of the
 * object's methods, only those that analysed code calls are analysed. Example: a table record
 * refers to a parser whose {@code close} is never called.
 *
 * <p><b>Files.</b> The code may read files only if the caller notices later changes to them ({@link
 * Known#noticesFiles}). It opens them by calls that the agent has rewritten.
 *
 * <p><b>Assumptions:</b> no reflection or native code sets final fields; the class files are those
 * that were loaded; the library's own code behaves as {@link Known} describes.
 */
public final class PurityAnalyzer {
  private static final int MAX_OBJECTS = 200_000;
  private static final int MAX_CLASSES = 300;

  /** Number of attempts to read collections that another thread changes. */
  private static final int TRIALS = 10;

  private static final Set<String> FACTORIES =
      Set.of(
          "java/lang/invoke/LambdaMetafactory",
          "java/lang/invoke/StringConcatFactory",
          "java/lang/runtime/ObjectMethods",
          "java/lang/runtime/SwitchBootstraps");

  /** JDK classes without hidden state, which a class of the program may extend. */
  private static final Set<Class<?>> PLAIN_PARENTS = Set.of(Object.class, Record.class, Enum.class);

  static final Member FORMAT =
      new Member(
          "java/lang/String",
          "format",
          "(Ljava/lang/String;[Ljava/lang/Object;)Ljava/lang/String;");

  /** Methods whose results depend on the default locale. */
  private static final Set<Member> OF_LOCALE =
      Set.of(
          new Member("java/lang/String", "toLowerCase", "()Ljava/lang/String;"),
          new Member("java/lang/String", "toUpperCase", "()Ljava/lang/String;"),
          new Member(
              JdkCode.FORMATTER,
              "ofPattern",
              "(Ljava/lang/String;)Ljava/time/format/DateTimeFormatter;"));

  /** Conversions of a format whose results depend on the time zone. */
  private static final Pattern OF_TIME = Pattern.compile("%[^a-zA-Z%]*[tT]");

  private static final String SCANNER = "java/util/Scanner";
  private static final String RANDOM = "java/util/Random";

  private static final String FILE_UTILS = "org/apache/commons/io/FileUtils";

  /** Types that name files. */
  private static final Set<String> FILES =
      Set.of("java/nio/file/Path", "java/io/File", "java/net/URL", "java/net/URI");

  private static final Member TO_STRING =
      new Member("java/lang/Object", "toString", "()Ljava/lang/String;");
  private static final Member HASH_CODE = new Member("java/lang/Object", "hashCode", "()I");

  /** The JVM calls this method on unreachable objects. */
  private static final Member FINALIZE = new Member("java/lang/Object", "finalize", "()V");

  private final String library;
  private final Known known;
  private final Predicate<String> trusted;

  /** Knowledge about the library. */
  public interface Known {
    /**
     * Whether a class with the library's name prefix belongs to the library. Programs may have
     * classes in its packages, too.
     */
    default boolean isOfLibrary(String className) {
      return true;
    }

    /** Returns why an object of this library class cannot run early; null if it can. */
    default @Nullable String reasonToLeave(Class<?> type) {
      return null;
    }

    /**
     * Returns the names of the methods with which other code can change the collections in the
     * private fields of a library class; null if unknown. Methods that return such a collection may
     * be missing.
     */
    default @Nullable Set<String> changers(String owner) {
      return null;
    }

    /** Whether the fields that a library class declares need not be followed. */
    boolean isClosed(Class<?> declaring);

    /**
     * Whether the contents of the fields that a class declares change only in announced methods,
     * and no other object refers to them.
     */
    default boolean keepsItsOwn(Class<?> declaring) {
      return false;
    }

    /**
     * Whether an object of this class never changes if only the library refers to it, so that its
     * fields need not be followed.
     */
    default boolean isValue(Class<?> type) {
      return false;
    }

    /** Whether a method may be called early. */
    boolean isKnown(String owner, String method);

    /** Whether a method reads a file given as an argument. */
    default boolean readsFile(String owner, String method) {
      return false;
    }

    /** Whether a method copies the arrays among its arguments. */
    default boolean copies(String owner, String method) {
      return false;
    }

    /**
     * Whether every call of this method by the program discards what ran early. Such a method may
     * set fields.
     */
    default boolean isAnnounced(String method, String descriptor) {
      return false;
    }

    /**
     * Whether the fields that this class declares may change between two calls. The caller then
     * compares their contents before each call, and checks after it that they refer to the same
     * objects. A pipeline has at most one such object.
     */
    default boolean keepsPlace(Class<?> type) {
      return false;
    }

    /**
     * Whether a collection in a field that may change between two calls is a queue whose elements
     * the caller compares before each call. Code may then take elements from its head; the caller
     * takes as many if it does not make the call.
     */
    default boolean isQueue(Object collection) {
      return false;
    }

    /** Whether the caller records the state of each file that this class opens. */
    default boolean noticesFiles(String owner) {
      return false;
    }

    /**
     * Whether the caller compares, before each call, the fields that closed classes declare ({@link
     * #isClosed}). It cannot do so for an object to which only a static field refers.
     */
    default boolean comparesObjects() {
      return false;
    }

    /**
     * Whether the caller compares, before each call of proven code, the fields that other code may
     * set.
     */
    default boolean comparesFields() {
      return false;
    }

    /** Whether the caller compares, before each call, the default locale. */
    default boolean comparesLocale() {
      return comparesFields();
    }

    /**
     * Whether the caller compares, before each call, the elements of arrays and lists in fields
     * that may change between two calls, and hands the code copies of them.
     */
    default boolean copiesPlace() {
      return false;
    }

    /**
     * Returns the names and descriptors of the methods that the caller itself calls on the object
     * for which {@link #keepsPlace} is true, and on objects of classes unknown to the library;
     * empty if it may call any.
     */
    default Set<String> runs() {
      return Set.of();
    }
  }

  /** {@code library} is the common prefix of the library's class names, with a trailing dot. */
  public PurityAnalyzer(String library, Known known) {
    this(library, known, className -> false);
  }

  /** {@code trusted} tests whether the user declared the class with this name deterministic. */
  public PurityAnalyzer(String library, Known known, Predicate<String> trusted) {
    this.library = library;
    this.known = known;
    this.trusted = trusted;
  }

  /** Returns why these objects cannot run early, as shown to the user; null if they can. */
  public @Nullable String reasonToLeave(List<? extends @Nullable Object> roots) {
    return prove(roots).reason();
  }

  /**
   * The result of an analysis.
   *
   * @param reason why the objects cannot run early, as shown to the user; null if they can
   * @param code a line for each class of the program that determines their behaviour, with a
   *     checksum of its class file; empty if they cannot run early
   * @param statics values of the static fields that this code reads, by name
   * @param trusts whether the proof relies on a class that the user declared deterministic
   * @param ordersByProcess whether the code may iterate over sets or maps whose order differs
   *     between processes
   * @param values the values of fields that other code may set; the proof holds while they stay the
   *     same
   * @param copied fields whose arrays or lists the caller must replace by copies
   * @param reads the fields on which the behaviour depends
   */
  public record Proof(
      @Nullable String reason,
      String code,
      Map<String, @Nullable Object> statics,
      boolean trusts,
      boolean ordersByProcess,
      FieldValues values,
      Set<Member> copied,
      Set<Member> reads) {
    private static Proof failed(String reason) {
      return new Proof(reason, "", Map.of(), false, false, FieldValues.NONE, Set.of(), Set.of());
    }
  }

  /** Like {@link #reasonToLeave}, but returns the whole proof. */
  public Proof prove(List<? extends @Nullable Object> roots) {
    for (int trial = 0; trial < TRIALS; trial++) {
      try {
        return proveNow(roots);
      } catch (ConcurrentModificationException e) {
        Thread.onSpinWait(); // The program's thread may have taken an element from a queue.
      }
    }
    return Proof.failed("another thread changes one of its collections");
  }

  private Proof proveNow(List<? extends @Nullable Object> roots) {
    try {
      Analysis analysis = new Analysis();
      roots.forEach(root -> analysis.addRoot(root));
      String reason = analysis.findReason();
      return reason == null
          ? new Proof(
              null,
              analysis.code(),
              analysis.readStatics(),
              analysis.trusts,
              analysis.ordersByProcess(),
              analysis.values.end(),
              Set.copyOf(analysis.copied),
              Set.copyOf(analysis.reads.keySet()))
          : Proof.failed(reason);
    } catch (ConcurrentModificationException e) {
      throw e;
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      return Proof.failed("the pipeline cannot be analysed (" + e + ")");
    }
  }

  /** Whether the behaviour of a class's objects depends on the fields that it declares. */
  public boolean counts(Class<?> declaring) {
    return !trusted.test(declaring.getName())
        && !known.isValue(declaring)
        && (isProgram(declaring) || !known.isClosed(declaring));
  }

  private boolean isLibrary(String owner) {
    return isNamedOfLibrary(dotted(owner));
  }

  private boolean isNamedOfLibrary(String name) {
    return name.startsWith(library) && known.isOfLibrary(name);
  }

  private boolean isProgram(String owner) {
    return !JdkCode.isJdk(owner) && !isLibrary(owner);
  }

  private boolean isProgram(Class<?> type) {
    return !JdkObjects.isOfJdk(type) && !isNamedOfLibrary(type.getName());
  }

  private static String dotted(String owner) {
    return owner.replace('/', '.');
  }

  /** One analysis of a pipeline. */
  private final class Analysis {
    /** The objects found, each with the name of what refers to it. */
    private final IdentityHashMap<Object, String> seen = new IdentityHashMap<>();

    /** The library's objects to which only library objects refer. */
    private final Set<Object> owned = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Arrays and collections that are elements of other arrays and collections. */
    private final Set<Object> containers = Collections.newSetFromMap(new IdentityHashMap<>());

    private final Set<Object> ownContainers = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> objects = new ArrayDeque<>();
    private final Map<String, Optional<ClassCode>> classes = new HashMap<>();

    /** Names of the classes requested from each loader. */
    private final IdentityHashMap<Object, Set<String>> requested = new IdentityHashMap<>();

    private final Set<String> checked = new HashSet<>();
    private final Set<String> initialised = new HashSet<>();
    private final Deque<Call> calls = new ArrayDeque<>();

    /** The fields that code reads, with the reading method. */
    private final Map<Member, Read> reads = new LinkedHashMap<>();

    /** Fields of the library that methods of the library may read. */
    private final Set<Member> ofLibrary = new HashSet<>();

    private final Deque<Member> statics = new ArrayDeque<>();

    /** The static fields that code reads, with the loader that sees them. */
    private final Map<Member, @Nullable ClassLoader> ofClasses = new HashMap<>();

    /** The fields with mutable contents, and whether the elements are mutable, too. */
    private final Map<Member, Boolean> changeable = new LinkedHashMap<>();

    /** Objects by the classes that declare their fields. A field is followed once code reads it. */
    private final Map<String, List<Held>> holders = new HashMap<>();

    /** Fields by the class that declares them. */
    private final Map<Class<?>, List<Declared>> declared = new HashMap<>();

    /** Fields that other code may set, and why that matters. */
    private final Map<Member, String> loose = new LinkedHashMap<>();

    /**
     * Fields that code sets, or reads although they are set, and methods of the library that change
     * their object; and why that matters if the pipeline keeps an object of that class. Other
     * objects exist only during a call.
     */
    private final Map<Member, String> ofNewObjects = new LinkedHashMap<>();

    /** Fields whose arrays or collections code changes; like {@link #ofNewObjects}. */
    private final Map<Member, String> filled = new LinkedHashMap<>();

    /** Private fields that are set only during construction, except perhaps by reflection. */
    private final Set<Member> settled = new LinkedHashSet<>();

    /**
     * Says which method sets a lazy cache; null if none does. Such a cache must not depend on
     * fields that other code may set.
     */
    private @Nullable String lazy;

    /** The fields that class initialisers read. */
    private final Set<Member> ofInitialisers = new HashSet<>();

    private final FieldValues values =
        new FieldValues(
            object ->
                (isOfJdk(object.getClass()) && JdkCode.isImmutable(object))
                    || seen.containsKey(object));

    /** The methods that may run. */
    private final List<MethodCode> run = new ArrayList<>();

    /** A call of a method of the library that returns a collection, perhaps its own. */
    private @Nullable String libraryCollection;

    /** A call of a method that queries a file before it opens it; null if there is none. */
    private @Nullable String queriesFirst;

    /** For each of the methods in {@link #run}, the loader that sees what it uses. */
    private final IdentityHashMap<MethodCode, Optional<ClassLoader>> loaders =
        new IdentityHashMap<>();

    /** Size of {@link #run} plus that of {@link #confined} when confinement was last checked. */
    private int lastKnown;

    /** Finds the classes whose objects code outside the program may get. */
    private final Confined confined = new Confined(PurityAnalyzer.this::isProgram);

    private final List<Instance> instances = new ArrayList<>();
    private final Set<List<@Nullable Object>> instantiated = new HashSet<>();

    /** The methods that code calls on objects of the program. */
    private final Set<Member> called = new HashSet<>();

    private final Set<Member> calledInitialising = new HashSet<>();

    /** The methods that code outside the program may call, by the class that declares them. */
    private final Map<String, Optional<Set<String>>> outside = new HashMap<>();

    private final Set<Object> roots = Collections.newSetFromMap(new IdentityHashMap<>());

    /** The object whose fields may change between two calls. */
    private @Nullable Object placed;

    private final Set<String> places = new HashSet<>();

    /** Fields of the object in {@link #placed} whose arrays or lists other code may change. */
    private final Set<Member> copied = new HashSet<>();

    private @Nullable String reason;
    private boolean trusts;

    /** Whether all objects found from now on are reachable only from static fields. */
    private boolean inStatics;

    /** Whether the analysed code runs during class initialisation. */
    private boolean initialises;

    private boolean ownOrder;
    private boolean hashes;

    void addRoot(@Nullable Object root) {
      if (root != null && JdkCode.isContainer(root)) {
        roots.addAll(elements(root));
        addElements(root, "the pipeline", false);
      } else {
        roots.add(root == null ? this : root);
        // Methods that runs() does not return run only if code shows the object.
        boolean mayBeConfined =
            root != null && keepsPlace(root.getClass()) && !known.runs().isEmpty();
        add(root, "the pipeline", false, mayBeConfined ? Member.NONE : null);
      }
    }

    /**
     * Adds an object to follow.
     *
     * @param by the field of the program that refers to it; null if something else does
     */
    private void add(@Nullable Object object, String holder, boolean own, @Nullable Member by) {
      if (object != null) {
        confined.found(Type.getInternalName(object.getClass()), by);
      }
      if (object == null
          || (isOfJdk(object.getClass()) && JdkCode.isImmutable(object))
          || (own && known.isValue(object.getClass()))) {
        return;
      }
      boolean isNew = seen.putIfAbsent(object, holder) == null;
      if (isNew && own && isNamedOfLibrary(object.getClass().getName())) {
        owned.add(object);
      }
      if (isNew || (!own && owned.remove(object))) {
        objects.add(object);
      }
    }

    @Nullable String findReason() {
      while (reason == null) {
        Object object = objects.poll();
        Call call = object == null ? calls.poll() : null;
        if (object != null) {
          visit(object, seen.getOrDefault(object, ""));
        } else if (call != null) {
          initialises = call.initialises();
          follow(call);
        } else if (!release()) {
          Member field = statics.poll();
          if (field == null) {
            return reasonOfFields();
          }
          inStatics = true;
          visitStatic(field);
        }
        if (seen.size() > MAX_OBJECTS || classes.size() > MAX_CLASSES) {
          return "the pipeline is too large to analyse";
        }
      }
      return reason;
    }

    /**
     * Follows the methods that other code may call on objects found not to be confined; returns
     * whether there are any.
     */
    private boolean release() {
      int known = run.size() + confined.size();
      if (known == lastKnown) {
        return false;
      }
      lastKnown = known;
      List<Instance> held = instances.stream().filter(one -> !one.isShown()).toList();
      Set<String> shown =
          held.isEmpty()
              ? Set.of()
              : confined.shown(
                  run,
                  method -> fields(Objects.requireNonNull(loaders.get(method)).orElse(null)),
                  held.stream().map(Instance::codes).toList());
      boolean any = false;
      for (Instance instance : held) {
        if (shown.contains(instance.name())) {
          instances.remove(instance);
          Instance now = instance.shown();
          instances.add(now);
          runCallable(now);
          any = true;
        }
      }
      return any;
    }

    String code() {
      StringBuilder text = new StringBuilder();
      new TreeMap<>(classes)
          .forEach(
              (name, code) -> {
                if (code.isPresent() && isProgram(name)) {
                  text.append(name).append(' ').append(code.get().checksum).append('\n');
                }
              });
      return text.toString();
    }

    /**
     * Whether the iteration order may differ between processes, as hash codes of enum constants do.
     */
    boolean ordersByProcess() {
      return ownOrder
          || (hashes
              && classes.values().stream()
                  .flatMap(Optional::stream)
                  .anyMatch(code -> code.parents.contains("java/lang/Enum")));
    }

    Map<String, @Nullable Object> readStatics() {
      Map<String, @Nullable Object> values = new TreeMap<>();
      ofClasses.forEach(
          (field, loader) -> values.put(field.toString(), value(declared(field, loader), null)));
      return values;
    }

    private @Nullable String reasonOfFields() {
      if (queriesFirst != null) {
        for (MethodCode method : run) {
          if (method.swallows()) {
            return queriesFirst + ", and " + method.where() + " catches exceptions";
          }
        }
      }
      for (Map<Member, String> fields : List.of(ofNewObjects, filled)) {
        for (Map.Entry<Member, String> field : fields.entrySet()) {
          // An iterator's fields may hold objects of earlier calls, unless they are compared; the
          // library's collections may hold any object.
          if ((placed != null && !known.comparesFields())
              || libraryCollection != null
              || trusts
              || keepsObject(field.getKey().className())
              || (fields == filled && !holdsNewObjects(field.getKey()))) {
            return field.getValue();
          }
        }
      }
      String change = libraryCollection == null ? null : fields(null).reasonOthersChange(run);
      if (change != null) {
        return libraryCollection + ", which returns a collection, and " + change;
      }
      for (Map.Entry<Member, Boolean> field : changeable.entrySet()) {
        Member key = field.getKey();
        Read read = reads.get(key);
        if (read != null) {
          FieldProof proof = fields(read.loader());
          boolean isQueue = isQueue(key);
          String why = isQueue ? null : proof.reasonItChanges(key, field.getValue());
          if (why != null) {
            why = read.reader() + " reads " + key + ", " + why;
            if (isCopied(key, field.getValue())) {
              copied.add(key);
              // An initialiser reads its inputs once, perhaps earlier than without the agent.
            } else if ((isLibrary(key.owner())
                    && (field.getValue() || known.changers(key.owner()) == null))
                || ofInitialisers.contains(key)
                || !addToValues(key, why, true)) {
              return why;
            }
          }
          if (why != null || isQueue) {
            String shown = proof.reasonItIsShown(key, field.getValue(), isQueue, run);
            if (shown != null) {
              return read.reader() + " reads " + key + ", " + shown;
            }
          }
        }
      }
      for (Map.Entry<Member, String> field : loose.entrySet()) {
        if (!addToValues(field.getKey(), field.getValue(), false)) {
          return field.getValue();
        }
      }
      String why = values.isEmpty() ? null : lazy;
      // Compared where possible.
      settled.forEach(field -> addToValues(field, "a private field", false));
      return why;
    }

    /** Whether the pipeline keeps an object of this class or of a subclass. */
    private boolean keepsObject(String className) {
      return seen.keySet().stream()
          .flatMap(
              object ->
                  Stream.<Class<?>>iterate(
                      object.getClass(), Objects::nonNull, Class::getSuperclass))
          .anyMatch(type -> type.getName().equals(className));
    }

    /** Whether code stores in a field only what the storing method created. */
    private boolean holdsNewObjects(Member field) {
      return run.stream()
          .allMatch(
              method ->
                  fields(Objects.requireNonNull(loaders.get(method)).orElse(null))
                      .storesOnly(
                          method, field, origin -> origin instanceof Made || origin == Plain.NULL));
    }

    /** Whether a field refers to a queue whose elements the caller compares. */
    private boolean isQueue(@Nullable Member field) {
      if (field == null || placed == null || !places.contains(field.owner())) {
        return false;
      }
      for (Class<?> at = placed.getClass(); at != null; at = at.getSuperclass()) {
        for (Declared one : declared(at)) {
          if (one.member().equals(field)) {
            Object queue = value(one.field(), placed);
            return queue != null && known.isQueue(queue);
          }
        }
      }
      return false;
    }

    private boolean isCopied(Member field, boolean deep) {
      return known.copiesPlace()
          && !deep
          && places.contains(field.owner())
          && !ofClasses.containsKey(field);
    }

    /**
     * Adds to {@link #values} this field of all objects that the code can reach; returns false if
     * that is impossible.
     */
    private boolean addToValues(Member field, String why, boolean deep) {
      if (!known.comparesFields() || trusts) {
        return false; // The references of an object of a trusted class are unknown.
      }
      try {
        if (ofClasses.containsKey(field)) {
          Field declared = declared(field, ofClasses.get(field));
          declared.setAccessible(true);
          return values.add(null, declared, deep);
        }
        for (Held held : holders.getOrDefault(field.owner(), List.of())) {
          for (Declared one : declared(held.declaring())) {
            if (one.member().equals(field)) {
              one.field().setAccessible(true);
              if (!values.add(held.object(), one.field(), deep)) {
                return false;
              }
            }
          }
        }
        return true;
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(why, e);
      }
    }

    private FieldProof fields(@Nullable ClassLoader loader) {
      return new FieldProof(known, name -> find(name, loader));
    }

    private @Nullable ClassCode find(String name, @Nullable ClassLoader loader) {
      Object loaderKey = loader == null ? this : loader;
      if (requested.computeIfAbsent(loaderKey, none -> new HashSet<>()).add(name)) {
        Optional<ClassCode> code = Optional.ofNullable(ClassCode.read(name, loader));
        Optional<ClassCode> other = classes.putIfAbsent(name, code);
        if (other != null && !code.map(it -> it.checksum).equals(other.map(it -> it.checksum))) {
          throw new IllegalStateException(
              "class loaders have different classes named " + dotted(name));
        }
      }
      return classes.getOrDefault(name, Optional.empty()).orElse(null);
    }

    private void visit(Object object, String holder) {
      Class<?> type = object.getClass();
      String name = type.getName();
      if (trusted.test(name)) {
        trusts = true;
        return;
      } else if (object instanceof ForkableRandom) {
        return; // The library's generator, whose values are reproducible.
      } else if (JdkObjects.isOfJdk(type)) {
        reason = holder + " keeps an object of class " + name;
      } else if (inStatics && known.comparesObjects() && isOrExtendsLibrary(type)) {
        reason =
            holder
                + " keeps an object of class "
                + name
                + " in a static field, where changes are not seen";
      } else if (type.isHidden() || type.isSynthetic()) {
        visitLambda(object, type, holder);
      } else if (isNamedOfLibrary(name)) {
        String why = known.reasonToLeave(type);
        if (why != null) {
          reason = holder + " keeps an object of class " + name + ", which " + why;
        } else {
          visitFields(object, type);
        }
      } else if (placed != null && keepsPlace(type)) {
        reason =
            holder
                + " keeps an object of class "
                + name
                + ", whose position in its data is unknown";
      } else {
        placed = known.keepsPlace(type) ? object : placed;
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
          if (known.keepsPlace(at)) {
            places.add(Type.getInternalName(at));
          }
          if (isProgram(at)) {
            if (inStatics && isAnnounced(at)) {
              reason =
                  holder
                      + " keeps an object of class "
                      + name
                      + " in a static field, where changes are not seen";
              return;
            }
            // Of an object that keeps its place, code may read only fields of the program.
            if (reason == null && object != placed && isOrExtendsLibrary(at)) {
              reason =
                  fields(at.getClassLoader())
                      .reasonInheritedChanges(
                          Type.getInternalName(at), PurityAnalyzer.this::isLibrary);
            }
          } else if (JdkObjects.isOfJdk(at) && !PLAIN_PARENTS.contains(at)) {
            reason = holder + " keeps an object of class " + name + ", which is a " + at.getName();
            return;
          }
          initialised.add(Type.getInternalName(at));
        }
        instantiate(
            type.getName(),
            List.of(Type.getInternalName(type)),
            type.getClassLoader(),
            false,
            roots.contains(object),
            confined.isShown(Type.getInternalName(type)));
        visitFields(object, type);
      }
    }

    /** Whether objects of this class have a field that may change between two calls. */
    private boolean keepsPlace(Class<?> type) {
      return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
          .anyMatch(known::keepsPlace);
    }

    /** Whether a class has announced methods, which may set fields. */
    private boolean isAnnounced(Class<?> type) {
      ClassCode code = find(Type.getInternalName(type), type.getClassLoader());
      return code != null
          && code.methods.stream().anyMatch(it -> known.isAnnounced(it.name, it.descriptor));
    }

    private boolean isOrExtendsLibrary(Class<?> type) {
      return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
          .anyMatch(at -> isNamedOfLibrary(at.getName()));
    }

    private void visitFields(Object object, Class<?> type) {
      for (Class<?> at = type; at != null && !JdkObjects.isOfJdk(at); at = at.getSuperclass()) {
        boolean ofLibrary = !isProgram(at);
        if (ofLibrary && known.isClosed(at)) {
          if (known.comparesObjects()) {
            checkParts(object, at);
          }
          continue;
        }
        boolean own = ofLibrary && (owned.contains(object) || known.keepsItsOwn(at));
        holders
            .computeIfAbsent(Type.getInternalName(at), none -> new ArrayList<>())
            .add(new Held(object, at));
        for (Declared field : declared(at)) {
          if (reason == null && (ofLibrary || reads.containsKey(field.member()))) {
            if (!field.field().getType().isPrimitive()) {
              visitValue(value(field.field(), object), field.field(), type.getName(), own);
            }
            if (ofLibrary && !own) {
              visitOfLibrary(at, field.member(), field.field(), type);
            }
          }
        }
      }
    }

    /** Refuses a library object if a field that is not followed refers to a program object. */
    private void checkParts(Object object, Class<?> type) {
      for (Declared field : declared(type)) {
        Object part = field.field().getType().isPrimitive() ? null : value(field.field(), object);
        if (part != null && !part.getClass().isArray() && isProgram(part.getClass())) {
          reason =
              object.getClass().getName()
                  + " keeps an object of class "
                  + part.getClass().getName()
                  + " in a field of the library";
        }
      }
    }

    private List<Declared> declared(Class<?> type) {
      return declared.computeIfAbsent(
          type,
          none ->
              Stream.of(type.getDeclaredFields())
                  .filter(field -> !Modifier.isStatic(field.getModifiers()))
                  .map(field -> new Declared(field, declared(field)))
                  .toList());
    }

    /** Follows a field that code turned out to read, for all objects found so far. */
    private void visitRead(Member field) {
      for (Held held : holders.getOrDefault(field.owner(), List.of())) {
        for (Declared one : declared(held.declaring())) {
          if (reason == null && one.member().equals(field)) {
            String holder = held.object().getClass().getName();
            visitValue(value(one.field(), held.object()), one.field(), holder, false);
          }
        }
      }
    }

    /**
     * Follows a lambda or method reference. Its class has no file, so all lambdas with the same
     * interfaces and captured types in the class that created it are followed.
     */
    private void visitLambda(Object object, Class<?> type, String holder) {
      String name = type.getName();
      int end = name.indexOf("$$Lambda");
      String host = Type.getInternalName(type).substring(0, Math.max(0, end));
      String lambda = holder + " keeps a lambda (" + name.replaceAll("[$/].*", "") + ")";
      ClassLoader loader = type.getClassLoader();
      ClassCode code = type.isHidden() && isProgram(host) && end > 0 ? find(host, loader) : null;
      List<Field> captured =
          Stream.of(type.getDeclaredFields())
              .filter(field -> !Modifier.isStatic(field.getModifiers()))
              .toList();
      if (code == null || !captured.stream().allMatch(it -> it.getName().matches("arg\\$\\d+"))) {
        reason = lambda + " whose code cannot be found";
        return;
      }
      List<String> kinds = Stream.of(type.getInterfaces()).map(Type::getDescriptor).toList();
      List<String> types =
          captured.stream()
              .sorted(Comparator.comparing(it -> Integer.valueOf(it.getName().substring(4))))
              .map(it -> Type.getDescriptor(it.getType()))
              .toList();
      boolean found = false;
      initialises = false;
      initialised.add(host); // Its code created the lambda.
      for (MethodCode method : code.methods) {
        Body body = new Body(method, loader);
        for (Instruction it : method.instructions) {
          if (reason == null
              && it.opcode() == Opcodes.INVOKEDYNAMIC
              && it.member().owner().equals("java/lang/invoke/LambdaMetafactory")
              && kinds.contains(Type.getReturnType(it.member().descriptor()).getDescriptor())
              && types.equals(
                  Stream.of(Type.getArgumentTypes(it.member().descriptor()))
                      .map(Type::getDescriptor)
                      .toList())) {
            found = true;
            it.arguments().forEach(body::linked);
          }
        }
      }
      if (!found) {
        reason = lambda + " whose code cannot be found";
      }
      instantiate(
          name,
          Stream.of(type.getInterfaces()).map(Type::getInternalName).toList(),
          loader,
          false,
          false,
          true);
      for (Field field : captured) {
        Object value = field.getType().isPrimitive() ? null : value(field, object);
        if (reason == null && value != null && JdkCode.isContainer(value)) {
          reason = lambda + " that captures an array or a collection, which other code may change";
        } else if (value != null) {
          add(value, "a lambda of " + dotted(host), false, null);
        }
      }
    }

    /** Records that methods of the library may read this field. */
    private void visitOfLibrary(Class<?> at, Member declared, Field field, Class<?> type) {
      if (!ofLibrary.add(declared)) {
        return;
      }
      reads.put(declared, new Read(type.getName(), at.getClassLoader()));
      String why = fields(at.getClassLoader()).reasonItIsSet(declared);
      if (why != null
          && known.comparesFields()
          && PackageFields.isSetOnlyInConstructors(at, field)) {
        loose.putIfAbsent(declared, type.getName() + " reads " + declared + ", " + why);
      } else if (why != null) {
        reason = type.getName() + " reads " + declared + ", " + why;
      }
    }

    private Member declared(Field field) {
      return new Member(
          Type.getInternalName(field.getDeclaringClass()),
          field.getName(),
          Type.getDescriptor(field.getType()));
    }

    private void visitValue(@Nullable Object value, Field field, String holder, boolean own) {
      if (value instanceof DateTimeFormatter
          && fields(field.getDeclaringClass().getClassLoader()).holdsPatterns(declared(field))) {
        return; // Immutable.
      } else if (value == null || !JdkCode.isContainer(value) || !isOfJdk(value.getClass())) {
        boolean ofProgram = !own && isProgram(field.getDeclaringClass());
        add(value, holder, own, ofProgram ? declared(field) : null);
        return;
      }
      boolean deep = addElements(value, holder, own);
      if (!own && (deep || !JdkCode.isFixed(value))) {
        changeable.merge(declared(field), deep, Boolean::logicalOr);
      }
    }

    private boolean isOfJdk(Class<?> type) {
      return type.isArray() || JdkObjects.isOfJdk(type);
    }

    /**
     * Adds the elements; returns true if some are or contain mutable containers, or are containers
     * that were found before.
     */
    private boolean addElements(Object container, String holder, boolean own) {
      if (reason == null && !own && !JdkCode.isPlain(container)) {
        reason =
            holder
                + " keeps an object of class "
                + container.getClass().getName()
                + ", whose order other code may determine";
        return false;
      } else if (reason == null && JdkCode.isOrderedByAccess(container)) {
        reason = holder + " keeps a map in access order, which changes when it is read";
      }
      boolean deep = false;
      for (Object element : elements(container)) {
        if (element != null && JdkCode.isContainer(element) && isOfJdk(element.getClass())) {
          // A container that recurs may contain itself.
          deep |=
              !(own ? ownContainers : containers).add(element) || addElements(element, holder, own);
          deep |= !JdkCode.isFixed(element);
        } else {
          add(element, holder, own, null);
        }
        if (seen.size() > MAX_OBJECTS) {
          break;
        }
      }
      return deep;
    }

    private Collection<?> elements(Object container) {
      if (container instanceof Object[] array) {
        return Arrays.asList(array);
      } else if (container instanceof Map<?, ?> map) {
        return Stream.<Object>concat(map.keySet().stream(), map.values().stream()).toList();
      } else if (container instanceof Optional<?> optional) {
        return optional.stream().toList();
      }
      return container instanceof Collection<?> elements ? elements : List.of();
    }

    private @Nullable Object value(Field field, @Nullable Object object) {
      try {
        field.setAccessible(true);
        return field.get(object);
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(e);
      }
    }

    /**
     * Follows a static field. Reading it may initialise the class, whose initialiser is already
     * analysed.
     */
    private void visitStatic(Member field) {
      Field declared = declared(field, ofClasses.get(field));
      visitValue(value(declared, null), declared, declared.getDeclaringClass().getName(), false);
    }

    private Field declared(Member field, @Nullable ClassLoader loader) {
      try {
        return Class.forName(field.className(), false, loader).getDeclaredField(field.name());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    /**
     * Records that code may have an object of a class, and follows the methods that other code can
     * call on it.
     *
     * @param starts the class, or the interfaces of a lambda
     * @param isRoot whether the library itself has the object, on which the caller calls the
     *     methods in {@link Known#runs}
     * @param isShown whether code outside the program is known to be able to get it
     */
    private void instantiate(
        String name,
        List<String> starts,
        @Nullable ClassLoader loader,
        boolean initialising,
        boolean isRoot,
        boolean isShown) {
      String internal = name.replace('.', '/');
      if (!instantiated.add(Arrays.asList(internal, loader, initialising, isRoot))) {
        return;
      }
      Map<String, ClassCode> codes = new LinkedHashMap<>(); // The class itself comes first.
      Set<String> callable = new HashSet<>();
      boolean all = false;
      boolean ofLibrary = false;
      Deque<String> open = new ArrayDeque<>(starts);
      Set<String> met = new HashSet<>(starts);
      String next;
      while ((next = open.poll()) != null) {
        if (isProgram(next)) {
          ClassCode code = find(next, loader);
          if (code == null) {
            reason = dotted(next) + " has no class file";
            return;
          }
          codes.put(next, code);
          code.parents.stream().filter(met::add).forEach(open::add);
        } else {
          Set<String> methods = outside(next, loader);
          all |= methods == null;
          callable.addAll(methods == null ? Set.of() : methods);
          ofLibrary |= isLibrary(next);
        }
      }
      Set<String> runs = isRoot ? known.runs() : Set.of();
      callable.addAll(runs);
      boolean any = all || (isRoot && !ofLibrary && runs.isEmpty());
      Instance instance =
          new Instance(
              internal,
              codes,
              any ? null : callable,
              loader,
              initialising,
              isShown || codes.values().stream().anyMatch(code -> code.declares(FINALIZE)));
      instances.add(instance);
      for (Member method : List.copyOf(called)) {
        run(instance, method, false);
      }
      for (Member method : List.copyOf(calledInitialising)) {
        run(instance, method, true);
      }
      if (instance.isShown()) {
        runCallable(instance);
      } else {
        runAll(instance, runs);
      }
    }

    /** Follows the methods that code outside the program may call on an object. */
    private void runCallable(Instance instance) {
      runAll(instance, instance.callable());
    }

    /** Follows the methods with these names and descriptors; all methods for null. */
    private void runAll(Instance instance, @Nullable Set<String> callable) {
      for (ClassCode code : instance.codes().values()) {
        for (MethodCode method : code.methods) {
          if (callable == null || callable.contains(method.signature())) {
            run(code, method, instance.loader(), instance.initialises());
          }
        }
      }
    }

    /**
     * Returns the names and descriptors of the methods of a class outside the program; null if
     * unknown.
     */
    private @Nullable Set<String> outside(String name, @Nullable ClassLoader loader) {
      Optional<Set<String>> known = outside.get(name);
      if (known == null) {
        ClassCode code = ClassCode.read(name, loader);
        Set<String> methods = code == null ? null : new HashSet<>();
        if (code != null && methods != null) {
          code.methods.forEach(method -> methods.add(method.signature()));
          for (String parent : code.parents) {
            Set<String> inherited = outside(parent, loader);
            methods.addAll(inherited == null ? Set.of() : inherited);
          }
        }
        known = Optional.ofNullable(methods);
        outside.put(name, known);
      }
      return known.orElse(null);
    }

    /** Records that code calls this method on an object of the program. */
    private void callVirtual(Member it, boolean initialising) {
      if ((initialising ? calledInitialising : called).add(it)) {
        List.copyOf(instances).forEach(instance -> run(instance, it, initialising));
      }
    }

    private void run(Instance instance, Member it, boolean initialising) {
      if (!instance.codes().containsKey(it.owner())) {
        return; // The JVM never calls this method on such an object.
      }
      boolean inherits = true;
      for (ClassCode code : instance.codes().values()) {
        for (MethodCode method : code.methods) {
          if (method.signature().equals(it.name() + it.descriptor())) {
            run(code, method, instance.loader(), initialising || instance.initialises());
            inherits &= code.isInterface || (method.access & Opcodes.ACC_ABSTRACT) != 0;
          }
        }
      }
      // A method inherited from outside the program may implement an interface's method.
      for (ClassCode code : instance.codes().values()) {
        String parent = code.isInterface ? "java/lang/Object" : code.parents.get(0);
        if (inherits
            && !isProgram(parent)
            && !parent.equals("java/lang/Object")
            && declares(parent, it.name() + it.descriptor(), instance.loader())) {
          inherit(
              new Call(code.name, it.name(), it.descriptor(), instance.loader(), initialising),
              parent);
        }
      }
    }

    private boolean declares(String name, String signature, @Nullable ClassLoader loader) {
      Set<String> methods = outside(name, loader);
      return methods == null || methods.contains(signature);
    }

    private void run(
        ClassCode code, MethodCode method, @Nullable ClassLoader loader, boolean initialising) {
      if ((method.access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0
          && !method.name.equals("<init>")
          && !known.isAnnounced(method.name, method.descriptor)) {
        calls.add(new Call(code.name, method.name, method.descriptor, loader, initialising));
      }
    }

    /** Analyses one method of the program. */
    private void follow(Call call) {
      ClassCode code = find(call.owner(), call.loader());
      if (!checked.add(call.owner() + "." + call.name() + call.descriptor() + call.initialises())) {
        return;
      }
      if (code == null) {
        reason = dotted(call.owner()) + " has no class file";
        return;
      }
      boolean found = false;
      for (MethodCode method : code.methods) {
        if (reason == null && method.signature().equals(call.name() + call.descriptor())) {
          found = true;
          analyse(method, call.loader());
        }
      }
      if (!found && !call.name().equals("<clinit>")) {
        for (String parent : code.parents) {
          if (isProgram(parent)
              || declares(parent, call.name() + call.descriptor(), call.loader())) {
            inherit(call, parent);
          }
        }
      }
    }

    private void inherit(Call call, String parent) {
      String name = call.name();
      String descriptor = call.descriptor();
      if (isProgram(parent)) {
        calls.add(new Call(parent, name, descriptor, call.loader(), call.initialises()));
        return;
      }
      if (isLibrary(parent) && returnsCollection(descriptor)) {
        libraryCollection = dotted(call.owner()) + " uses " + dotted(parent) + "." + name;
      }
      if (mayChange(parent, name)) {
        changesObject(new Member(parent, name, descriptor), dotted(call.owner()));
      }
      if (!(isLibrary(parent)
          ? known.isKnown(parent, name)
          : JdkCode.isKnown(parent, name, descriptor))) {
        reason = dotted(call.owner()) + " uses " + dotted(parent) + "." + name;
      }
    }

    private boolean mayChange(String owner, String method) {
      Set<String> changers = known.changers(owner);
      return changers != null && changers.contains(method);
    }

    /** Records that code changes an object of the library, perhaps one that the pipeline keeps. */
    private void changesObject(Member changer, String by) {
      changesObject(changer, by, changer.className() + "." + changer.name());
    }

    private void changesObject(Member ofClass, String by, String method) {
      ofNewObjects.putIfAbsent(ofClass, by + " may change an object with " + method);
    }

    private static boolean returnsCollection(String descriptor) {
      return JdkCode.isCollection(Type.getReturnType(descriptor).getInternalName());
    }

    /** Follows the static initialiser of a class that the code uses. */
    private void initialise(String owner, @Nullable ClassLoader loader) {
      if (isProgram(owner) && initialised.add(owner)) {
        calls.add(new Call(owner, "<clinit>", "()V", loader, true));
        ClassCode code = find(owner, loader);
        if (code != null) {
          code.parents.forEach(parent -> initialise(parent, loader));
        }
      }
    }

    /**
     * Whether a method of the library takes a file. It may query the file without opening it, or
     * open it by calls that are not rewritten.
     */
    private static boolean takesFile(String descriptor) {
      return Stream.of(Type.getArgumentTypes(descriptor))
          .map(Type::getInternalName)
          .anyMatch(FILES::contains);
    }

    /**
     * Whether commons-io queries a file before it opens it, as versions before 2.8 do. If there is
     * no file, nothing is opened or recorded, and the program gets an exception.
     */
    private static boolean queriesBeforeOpening(@Nullable ClassCode code) {
      return code == null
          || code.methods.stream()
              .filter(method -> method.name.equals("openInputStream"))
              .flatMap(method -> method.instructions.stream())
              .anyMatch(it -> it.isCall() && it.member().owner().equals("java/io/File"));
    }

    private void analyse(MethodCode method, @Nullable ClassLoader loader) {
      run.add(method);
      loaders.put(method, Optional.ofNullable(loader));
      Body body = new Body(method, loader);
      if ((method.access & Opcodes.ACC_NATIVE) != 0) {
        body.leave("is native");
      } else if ((method.access & Opcodes.ACC_SYNCHRONIZED) != 0) {
        body.leave("uses a lock");
      }
      body.forEach(body::changes);
      body.forEach(body::reads);
    }

    /** Checks the effects of one method. */
    private final class Body {
      private final MethodCode method;
      private final @Nullable ClassLoader loader;
      private final FieldProof fields;

      Body(MethodCode method, @Nullable ClassLoader loader) {
        this.method = method;
        this.loader = loader;
        fields = fields(loader);
      }

      void forEach(BiConsumer<Instruction, List<Value>> check) {
        for (int i = 0; reason == null && i < method.instructions.size(); i++) {
          List<Value> operands = method.flow().operands(i);
          if (operands != null) {
            check.accept(method.instructions.get(i), operands);
          }
        }
      }

      private void leave(String why) {
        reason = method.where() + " " + why;
      }

      private boolean isInitialiser() {
        return method.name.equals("<init>") || method.name.equals("<clinit>");
      }

      /** Whether the value belongs to an object or class that is not under construction. */
      private boolean isKept(Value value) {
        return value.origins().stream()
            .anyMatch(origin -> origin instanceof Kept kept && !(isInitialiser() && kept.ofThis()));
      }

      /** Whether a static initialiser accesses a static field that its own class declares. */
      private boolean isInitialising(Member used) {
        return method.name.equals("<clinit>")
            && used.owner().equals(method.owner)
            && used.equals(fields.resolve(used));
      }

      /** Whether the field may change between two calls. */
      private boolean isPlace(Member used) {
        Member field = fields.resolve(used);
        return field != null && places.contains(field.owner());
      }

      void changes(Instruction instruction, List<Value> operands) {
        int code = instruction.opcode();
        Member it = instruction.member();
        if ((code == Opcodes.PUTFIELD
                && !((method.name.equals("<init>") || isPlace(it))
                    && operands.get(0).isOnly(Plain.THIS)))
            || (code == Opcodes.PUTSTATIC && !isInitialising(it))) {
          String why = "sets its field " + it.name();
          Member field = code == Opcodes.PUTFIELD ? fields.resolve(it) : null;
          if (field != null && fields.isLazy(it)) {
            lazy = method.where() + " " + why;
          } else if (field != null && isProgram(field.owner())) {
            ofNewObjects.putIfAbsent(field, method.where() + " " + why);
          } else {
            leave(why);
          }
        } else if (code == Opcodes.MONITORENTER) {
          leave("uses a lock");
        } else if (instruction.setsElement() && isKept(operands.get(0))) {
          fills(operands.get(0), "may change an array it keeps");
        } else if (instruction.isCall()
            && code != Opcodes.INVOKESTATIC
            && JdkCode.isOf(JdkCode.CHANGES, it.owner(), it.name())
            && isKept(operands.get(0))
            && !(JdkCode.takesFirst(it) && areQueues(operands.get(0)))) {
          fills(operands.get(0), "may change a collection it keeps");
        }
      }

      private boolean areQueues(Value collection) {
        return collection.origins().stream()
            .allMatch(
                origin ->
                    origin instanceof Kept kept
                        && !kept.element()
                        && isQueue(fields.resolve(kept.field())));
      }

      /** Records that code changes an array or a collection, which a field may hold. */
      private void fills(Value container, String why) {
        for (Origin origin : container.origins()) {
          if (origin instanceof Kept kept) {
            Member field = fields.resolve(kept.field());
            if (field == null
                || kept.element()
                || fields.isStatic(field)
                || !isProgram(field.owner())) {
              leave(why);
            } else {
              filled.putIfAbsent(field, method.where() + " " + why);
            }
          }
        }
      }

      /**
       * Whether a value may be a string, a boxed number, an element or a collection of the library.
       * The caller describes these by their contents, so equal ones are taken for the same.
       */
      private boolean isDescribed(Value value) {
        return value.origins().stream()
            .anyMatch(
                origin ->
                    origin == Plain.SIMPLE
                        || origin instanceof Literal
                        || (origin instanceof Kept kept
                            && (kept.element()
                                || Value.of(kept).isSimple()
                                || known.changers(
                                        Type.getType(kept.field().descriptor()).getInternalName())
                                    != null)));
      }

      void reads(Instruction instruction, List<Value> operands) {
        Member it = instruction.member();
        switch (instruction.opcode()) {
          case Opcodes.IF_ACMPEQ, Opcodes.IF_ACMPNE -> {
            if (isDescribed(operands.get(0)) && isDescribed(operands.get(1))) {
              leave("compares strings, boxed numbers or collections by identity");
            }
          }
          case Opcodes.GETFIELD -> {
            if (!(method.name.equals("<init>") && operands.get(0).isOnly(Plain.THIS))) {
              read(it, false);
            }
          }
          case Opcodes.GETSTATIC -> {
            if (!isInitialising(it)) {
              read(it, true);
            }
          }
          case Opcodes.NEW -> {
            if (isProgram(it.owner())) {
              made(it.owner());
              initialise(it.owner(), loader);
            } else if (JdkCode.isJdk(it.owner())
                && !JdkCode.isKnownType(it.owner())
                && !it.owner().equals(RANDOM)) {
              leave("uses " + it.className());
            }
          }
          case Opcodes.INVOKEVIRTUAL, Opcodes.INVOKEINTERFACE -> called(false, it, operands);
          case Opcodes.INVOKESTATIC, Opcodes.INVOKESPECIAL -> {
            called(true, it, operands);
            initialise(it.owner(), loader);
          }
          case Opcodes.INVOKEDYNAMIC -> {
            if (!FACTORIES.contains(it.owner())) {
              leave("contains a call that " + it.className() + " links");
            }
            instruction.arguments().forEach(this::linked);
            link(instruction, operands);
            if (it.owner().equals("java/lang/invoke/StringConcatFactory")) {
              Type[] types = Type.getArgumentTypes(it.descriptor());
              for (int i = 0; i < operands.size(); i++) {
                checkIdentity(operands.get(i), types[i], TO_STRING);
              }
            }
          }
          case Opcodes.LDC -> linked(instruction.arguments().get(0));
          default -> {}
        }
      }

      /**
       * Checks a value whose string or hash code the JDK uses. For an array, and for an object
       * whose class inherits the method from {@code Object}, the string or hash code derives from
       * the identity hash code, which differs between objects and processes. Other classes are
       * assumed to override the method.
       *
       * @param type declared type of the value; null for any object
       * @param by {@code toString} or {@code hashCode}
       */
      private void checkIdentity(Value value, @Nullable Type type, Member by) {
        for (Origin origin : value.origins()) {
          if (origin instanceof Made made) {
            Instruction it = method.instructions.get(made.at());
            if (it.makesArray()
                || (it.opcode() == Opcodes.NEW && isInherited(it.member().owner(), by))) {
              leave("depends on the identity hash code of an object that it creates");
            }
          } else if (origin instanceof Kept kept && !kept.element()) {
            String descriptor = kept.field().descriptor();
            ownOrder |=
                descriptor.startsWith("[")
                    || isInherited(Type.getType(descriptor).getInternalName(), by);
          } else if (type != null
              && (type.getSort() == Type.ARRAY
                  || (type.getSort() == Type.OBJECT && isInherited(type.getInternalName(), by)))) {
            leave("may depend on the identity hash code of an object");
          }
        }
      }

      /** Whether a class inherits this method from {@code Object}. */
      private boolean isInherited(String owner, Member by) {
        if (JdkCode.isJdk(owner)) {
          return JdkObjects.inherits(owner.replace('/', '.'), by.name());
        }
        for (String at = owner; isProgram(at); ) {
          ClassCode code = find(at, loader);
          if (code == null || code.isInterface || code.declares(by)) {
            return false; // The class is unknown, an interface, or overrides the method.
          }
          at = code.parents.get(0);
          if (at.equals("java/lang/Object")) {
            return true;
          }
        }
        return false;
      }

      /**
       * Follows a lambda, which has the default methods of its interfaces and may change what it
       * captures.
       */
      private void link(Instruction lambda, List<Value> operands) {
        for (Object constant : lambda.arguments()) {
          if (constant instanceof Handle handle
              && JdkCode.isOf(JdkCode.CHANGES, handle.getOwner(), handle.getName())
              && !operands.isEmpty()
              && isKept(operands.get(0))) {
            leave("may change a collection it keeps");
          }
        }
        Stream.concat(
                Stream.of(Type.getReturnType(lambda.member().descriptor())),
                lambda.arguments().stream().filter(Type.class::isInstance).map(Type.class::cast))
            .filter(type -> type.getSort() == Type.OBJECT && isProgram(type.getInternalName()))
            .map(Type::getInternalName)
            .forEach(
                type ->
                    instantiate(
                        "a lambda of " + type, List.of(type), loader, initialises, false, true));
      }

      /** Records that code creates an object, which it may pass to any code. */
      private void made(String owner) {
        confined.found(owner, null);
        instantiate(owner, List.of(owner), loader, initialises, false, true);
      }

      private void linked(Object constant) {
        if (constant instanceof ConstantDynamic) {
          leave("has a dynamically computed constant");
        } else if (constant instanceof Handle handle) {
          int tag = handle.getTag();
          Member it = Member.of(handle);
          if (tag <= Opcodes.H_GETSTATIC) {
            read(it, tag == Opcodes.H_GETSTATIC);
          } else if (tag <= Opcodes.H_PUTSTATIC) {
            leave("sets its field " + it.name());
          } else { // The method of a lambda or method reference.
            boolean virtual = tag == Opcodes.H_INVOKEVIRTUAL || tag == Opcodes.H_INVOKEINTERFACE;
            called(!virtual, it, List.of());
            initialise(it.owner(), loader);
            if (tag == Opcodes.H_NEWINVOKESPECIAL && isProgram(it.owner())) {
              made(it.owner());
            }
          }
        }
      }

      /**
       * Whether a call that opens a file passes options, or may do so: with {@code
       * DELETE_ON_CLOSE}, for example, reading has side effects.
       */
      private boolean takesOptions(Member it, List<Value> operands) {
        if (!it.descriptor().contains("Option;")) {
          return false;
        }
        return operands.isEmpty()
            || !operands.get(operands.size() - 1).origins().stream()
                .allMatch(origin -> origin instanceof Made made && isEmptyArray(made.at()));
      }

      private boolean isEmptyArray(int at) {
        return at > 0
            && method.instructions.get(at).opcode() == Opcodes.ANEWARRAY
            && method.instructions.get(at - 1).opcode() == Opcodes.ICONST_0
            && !method.isTarget(at);
      }

      /** Follows a call of this method; unless the call is exact, also its overrides. */
      private void called(boolean exact, Member it, List<Value> operands) {
        String owner = it.owner();
        String name = it.name();
        String descriptor = it.descriptor();
        String whole = it.className() + "." + name;
        boolean isOfLibrary = isLibrary(owner);
        if (isOfLibrary && returnsCollection(descriptor)) {
          libraryCollection = method.where() + " uses " + whole;
        }
        if (mayChange(owner, name)
            && (operands.isEmpty()
                || !operands.get(0).origins().stream().allMatch(Made.class::isInstance))) {
          changesObject(it, method.where());
        }
        for (Type argument : isOfLibrary ? Type.getArgumentTypes(descriptor) : new Type[0]) {
          String type = argument.getSort() == Type.OBJECT ? argument.getInternalName() : "";
          Set<String> changers = known.changers(type);
          if (changers != null && !changers.isEmpty()) {
            changesObject(new Member(type, "", ""), method.where(), whole);
          }
        }
        ownOrder |= JdkCode.hasOwnOrder(owner, name);
        hashes |= JdkCode.hashes(owner);
        int key = JdkCode.identityOperand(owner, name, descriptor);
        if (key >= 0 && key < operands.size()) {
          checkIdentity(
              operands.get(key), null, JdkCode.isCollection(owner) ? HASH_CODE : TO_STRING);
        }
        if (owner.equals(FILE_UTILS) && queriesBeforeOpening(find(owner, loader))) {
          queriesFirst = method.where() + " uses " + whole;
        }
        if (usesLocale(it)) {
          if (initialises || !known.comparesLocale()) {
            leave("uses " + whole);
            return;
          }
          values.addLocale();
        }
        if (isOfLibrary
            ? known.readsFile(owner, name)
            : JdkCode.readsFile(owner, name, descriptor)) {
          if (initialises) {
            leave("reads a file during class initialisation, which may happen at any time");
          } else if (!known.noticesFiles(method.owner)) {
            leave("reads a file (" + whole + ")");
          } else if (takesOptions(it, operands)) {
            leave("uses " + whole + " with options");
          } else if (it.owner().equals("java/io/RandomAccessFile")
              && !(operands.size() == 3 && operands.get(2).isOnly(new Literal("r")))) {
            leave("uses " + whole + " with a mode other than the constant \"r\"");
          } else if (operands.isEmpty() || operands.get(0).isOnly(Plain.THIS)) {
            leave(
                "reads a file through a method reference or its superclass, where changes are not"
                    + " seen");
          }
        } else if (isFormat(it)
            ? hasConstantFormat(operands) && (onlyForFailure(it) || formatsSimpleValues(operands))
            : OF_LOCALE.contains(it) || isOfOwnRandom(it, operands)) {
          // Known; see usesLocale.
        } else if (isOfLibrary
            ? !known.isKnown(owner, name) || takesFile(descriptor)
            : JdkCode.isJdk(owner) && !JdkCode.isKnown(owner, name, descriptor)) {
          leave("uses " + whole);
        } else if (isProgram(owner)) {
          if (known.isAnnounced(name, descriptor)) {
            leave("uses " + whole);
          }
          calls.add(new Call(owner, name, descriptor, loader, initialises));
          if (!exact) {
            callVirtual(it, initialises);
          }
        }
      }

      /** Whether the result of a call depends on the default locale. */
      private boolean usesLocale(Member it) {
        return OF_LOCALE.contains(it)
            || it.owner().equals(SCANNER)
            || (isFormat(it) && !it.descriptor().startsWith("(Ljava/util/Locale;"));
      }

      private boolean isFormat(Member it) {
        return it.owner().equals(FORMAT.owner()) && it.name().startsWith(FORMAT.name());
      }

      /** Whether the format is constant, and contains no dates, which depend on the time zone. */
      private boolean hasConstantFormat(List<Value> operands) {
        int last = operands.size() - 1;
        return last > 0
            && operands.get(last - 1).origins().stream()
                .allMatch(
                    origin ->
                        origin instanceof Literal format && !OF_TIME.matcher(format.text()).find());
      }

      /**
       * Whether a call formats only strings and numbers. The text of other objects may depend on
       * more than the objects, as identity hash codes do.
       */
      private boolean formatsSimpleValues(List<Value> operands) {
        return operands.get(operands.size() - 1).origins().stream()
            .allMatch(origin -> origin instanceof Made made && hasSimpleElements(made));
      }

      /** Whether only this method can set an array's elements, and only to strings and numbers. */
      private boolean hasSimpleElements(Made array) {
        if (method.instructions.get(array.at()).opcode() != Opcodes.ANEWARRAY) {
          return false;
        }
        for (int i = 0; i < method.instructions.size(); i++) {
          Instruction it = method.instructions.get(i);
          List<Value> operands = method.flow().operands(i);
          for (int k = 0; operands != null && k < operands.size(); k++) {
            if (operands.get(k).origins().contains(array)
                && !(it.setsElement() && k == 0 && operands.get(2).isSimple())
                && !it.moves()
                && !(it.isCall() && isFormat(it.member()))) {
              return false;
            }
          }
        }
        return true;
      }

      /**
       * Whether a call creates a generator from a seed, or draws from one that this code created.
       */
      private boolean isOfOwnRandom(Member it, List<Value> operands) {
        return it.owner().equals(RANDOM)
            && !operands.isEmpty()
            && operands.get(0).origins().stream()
                .allMatch(
                    origin ->
                        origin instanceof Made made
                            && method.instructions.get(made.at()).member().owner().equals(RANDOM))
            && (it.name().equals("<init>")
                ? it.descriptor().equals("(J)V")
                : it.name().startsWith("next"));
      }

      /** Whether the method calls {@code it} only to format the message of an exception. */
      private boolean onlyForFailure(Member it) {
        List<Instruction> code = method.instructions;
        for (int i = 0; i < code.size(); i++) {
          if (code.get(i).isCall() && code.get(i).member().equals(it)) {
            Member next = i + 1 < code.size() ? code.get(i + 1).member() : Member.NONE;
            if (!next.owner().endsWith("Exception") || !next.name().equals("<init>")) {
              return false;
            }
          }
        }
        return true;
      }

      private void read(Member it, boolean ofClass) {
        String descriptor = it.descriptor();
        if (JdkCode.isJdk(it.owner())) {
          if (!JdkCode.isKnownType(it.owner())) {
            leave("uses " + (ofClass ? Type.getType(descriptor).getClassName() : it.className()));
          }
          return;
        }
        Member field = fields.resolve(it);
        if (field == null) {
          leave("reads " + it + ", which no class file declares");
          return;
        }
        boolean isPlace = !ofClass && places.contains(field.owner());
        String why =
            isPlace || (!ofClass && fields.isLazy(field)) ? null : fields.reasonItIsSet(field);
        if (isLibrary(field.owner())) {
          if (why != null || descriptor.startsWith("[") || descriptor.startsWith("Ljava/util/")) {
            leave("reads " + field + " of the library");
          }
          return;
        }
        if (why != null && (initialises || !known.comparesFields())) {
          if (ofClass) {
            leave("reads " + field + ", " + why);
            return;
          }
          ofNewObjects.putIfAbsent(field, method.where() + " reads " + field + ", " + why);
        } else if (why != null) {
          loose.putIfAbsent(field, method.where() + " reads " + field + ", " + why);
        } else if (!isPlace && !initialises && !fields.isFinal(field) && !fields.isLazy(field)) {
          settled.add(field);
        }
        if (initialises) {
          ofInitialisers.add(field);
        }
        boolean isNew = reads.putIfAbsent(field, new Read(method.where(), loader)) == null;
        if (ofClass) {
          ofClasses.putIfAbsent(field, loader);
          initialise(field.owner(), loader);
          if (isNew && !FieldProof.isPlain(descriptor)) {
            statics.add(field);
          }
        } else if (isNew && !FieldProof.isPlain(descriptor)) {
          visitRead(field);
        }
      }
    }
  }

  /** The method that reads a field. */
  private record Read(String reader, @Nullable ClassLoader loader) {}

  /** An object and a class that declares some of its fields. */
  private record Held(Object object, Class<?> declaring) {}

  private record Declared(Field field, Member member) {}

  /**
   * A class whose objects code may have.
   *
   * @param name its internal name
   * @param codes the class and all its ancestors in the program, by name
   * @param callable names and descriptors of the methods that other code may call; null for all
   * @param initialises whether its methods may run during class initialisation
   * @param isShown whether code outside the program is known to be able to get one of them
   */
  private record Instance(
      String name,
      Map<String, ClassCode> codes,
      @Nullable Set<String> callable,
      @Nullable ClassLoader loader,
      boolean initialises,
      boolean isShown) {
    Instance shown() {
      return new Instance(name, codes, callable, loader, initialises, true);
    }
  }

  /**
   * A method of the program to analyse.
   *
   * @param initialises whether it may run during class initialisation, which the proof itself may
   *     cause
   */
  private record Call(
      String owner,
      String name,
      String descriptor,
      @Nullable ClassLoader loader,
      boolean initialises) {}
}
