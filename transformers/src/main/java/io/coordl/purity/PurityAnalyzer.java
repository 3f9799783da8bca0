package io.coordl.purity;

import io.coordl.bridge.ForkableRandom;
import io.coordl.purity.Flow.Kept;
import io.coordl.purity.Flow.Plain;
import io.coordl.purity.Flow.Value;
import io.coordl.purity.MethodCode.Instruction;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import net.bytebuddy.jar.asm.ConstantDynamic;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a pipeline gives the same batch when it runs before the program asks for it, and
 * leaves no trace if the program never does.
 *
 * <p><b>The rule.</b> Whatever the pipeline's code reads never changes while the program runs:
 * every field is final or set nowhere but where its object is made, and what it keeps is of that
 * kind, all the way down. It reads no clock, thread, locale, property, environment, file but the
 * item asked for, or generator but the library's, and sets nothing that outlives the call.
 *
 * <p><b>Which code that is.</b> A method is looked at if it can run: all methods of the classes of
 * the objects that the pipeline keeps, of the classes that this code makes objects of, the static
 * methods it calls, its lambdas, and the initialisers of classes that may not be initialised yet.
 * No other class can receive a call, since objects come from nowhere else: reflection, method
 * handles, service loaders and the like are not known. So it does not matter which implementations
 * of an interface are loaded later.
 *
 * <p><b>Set nowhere else.</b> Which classes the program will load cannot be known, but only those
 * of a class's nest can set its private fields, and the class file of the host lists them. So a
 * field that is not final must be private, and all class files of the nest are read: it may be set
 * in the constructors of its own class, on {@code this}, in its static initialiser, or in a method
 * whose calls the library's adapter hears of ({@link Known#isAnnounced}). A field that is neither
 * final nor private can be set by anybody.
 *
 * <p><b>What it keeps.</b> Objects are followed, from those the pipeline has, through their fields
 * as they are now; since the fields do not change, they stay that. Immutable values of the JDK are
 * known by class. An array, or a collection that is not an immutable one, may be shared with the
 * training loop: it must have been made by the class that keeps it, in a private field, and no
 * method of the nest may change it or show it to other code ({@link FieldProof}).
 *
 * <p><b>Items.</b> A data set reads its own files: one that is found by the index asked for. Any
 * other file may be rewritten between two batches.
 *
 * <p><b>Taken for granted:</b> final fields are not set by reflection or native code; class files
 * are those that were loaded; the library's own code does what {@link Known} says.
 */
public final class PurityAnalyzer {
  private static final int MAX_OBJECTS = 200_000;
  private static final int MAX_CLASSES = 300;

  private static final Set<String> FACTORIES =
      Set.of(
          "java/lang/invoke/LambdaMetafactory",
          "java/lang/invoke/StringConcatFactory",
          "java/lang/runtime/ObjectMethods",
          "java/lang/runtime/SwitchBootstraps");

  /** What a class of the program may extend without keeping what cannot be seen. */
  private static final Set<Class<?>> PLAIN_PARENTS = Set.of(Object.class, Record.class, Enum.class);

  private final String library;
  private final Known known;
  private final Predicate<String> trusted;

  /** What is known of the library. */
  public interface Known {
    /**
     * Whether a class that is named as the library's are is one: programs lie in its packages too.
     */
    default boolean isOfLibrary(String className) {
      return true;
    }

    /** Why an object of this class of the library cannot run early; null if it can. */
    default @Nullable String reasonToLeave(Class<?> type) {
      return null;
    }

    /** Whether the fields that a class of the library declares need not be followed. */
    boolean isClosed(Class<?> declaring);

    /**
     * Whether what such fields keep changes in announced methods only, and no other object has it.
     */
    default boolean keepsItsOwn(Class<?> declaring) {
      return false;
    }

    /** Whether an object that the library keeps to itself never changes, whatever it refers to. */
    default boolean isValue(Class<?> type) {
      return false;
    }

    /** Whether a method may be called early. */
    boolean isKnown(String owner, String method);

    /** Whether a method reads a file that it is given. */
    default boolean readsFile(String owner, String method) {
      return false;
    }

    /** Whether a method copies the arrays among its arguments. */
    default boolean copies(String owner, String method) {
      return false;
    }

    /**
     * Whether every call of a method of that name and descriptor by the program ends what ran
     * early: it may set fields.
     */
    default boolean isAnnounced(String method, String descriptor) {
      return false;
    }

    /**
     * Whether the fields that such a class declares may change between two calls: who asks compares
     * what they hold before each, and looks whether they hold the same objects after it. A pipeline
     * has one such object.
     */
    default boolean keepsPlace(Class<?> type) {
      return false;
    }

    /** Whether a change of any file that is opened is noticed, not only of the item asked for. */
    default boolean noticesFiles() {
      return false;
    }

    /**
     * Whether what is closed of an object is compared before each call: then nobody compares that
     * of an object which only a static field keeps.
     */
    default boolean comparesObjects() {
      return false;
    }

    /** Name and descriptor of the method that gets an item by its number, a {@code long}. */
    default String getsItem() {
      return "";
    }
  }

  /** {@code library} is where the names of its classes begin, with a dot at the end. */
  public PurityAnalyzer(String library, Known known) {
    this(library, known, className -> false);
  }

  /** {@code trusted} tells whether the user vouches for the objects of a class of that name. */
  public PurityAnalyzer(String library, Known known, Predicate<String> trusted) {
    this.library = library;
    this.known = known;
    this.trusted = trusted;
  }

  /** Why these objects cannot run early, for the user; null if they can. */
  public @Nullable String reasonToLeave(List<? extends @Nullable Object> roots) {
    return prove(roots).reason();
  }

  /**
   * What was found out about some objects.
   *
   * @param reason why they cannot run early, for the user; null if they can
   * @param code a line for each class of the program that decides what they do, with a checksum of
   *     its class file; empty if they cannot
   * @param statics what the static fields hold that this code reads, by their names
   * @param trusts whether it rests on the user's word for a class, too
   * @param ordersByProcess whether it may go through sets or maps in an order that is another in
   *     each process
   */
  public record Proof(
      @Nullable String reason,
      String code,
      Map<String, @Nullable Object> statics,
      boolean trusts,
      boolean ordersByProcess) {
    private static Proof failed(String reason) {
      return new Proof(reason, "", Map.of(), false, false);
    }
  }

  /** As {@link #reasonToLeave}, and what it rests on. */
  public Proof prove(List<? extends @Nullable Object> roots) {
    try {
      Look look = new Look();
      roots.forEach(root -> look.addRoot(root));
      String reason = look.findReason();
      return reason == null
          ? new Proof(null, look.code(), look.readStatics(), look.trusts, look.ordersByProcess())
          : Proof.failed(reason);
    } catch (RuntimeException | LinkageError e) {
      return Proof.failed("it cannot be looked at (" + e + ")");
    }
  }

  /** Whether what a class's objects do depends on the fields that it declares. */
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

  /** One look at a pipeline. */
  private final class Look {
    /** Every object found, with the class that keeps it. */
    private final IdentityHashMap<Object, String> seen = new IdentityHashMap<>();

    /** Of these, what belongs to an object of the library that keeps it to itself. */
    private final Set<Object> owned = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Arrays and collections among the elements of others. */
    private final Set<Object> containers = Collections.newSetFromMap(new IdentityHashMap<>());

    private final Set<Object> ownContainers = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> objects = new ArrayDeque<>();
    private final Map<String, Optional<ClassCode>> classes = new HashMap<>();

    /** Which of them each loader has been asked for. */
    private final IdentityHashMap<Object, Set<String>> asked = new IdentityHashMap<>();

    private final Set<String> checked = new HashSet<>();
    private final Set<String> initialised = new HashSet<>();
    private final Deque<Call> calls = new ArrayDeque<>();

    /** The fields that code reads, with the method that does. */
    private final Map<Member, Read> reads = new LinkedHashMap<>();

    private final Deque<Member> statics = new ArrayDeque<>();

    /** The static fields that code reads, and who sees them. */
    private final Map<Member, @Nullable ClassLoader> ofClasses = new HashMap<>();

    /** The fields that keep what can be changed, and whether its elements can be. */
    private final Map<Member, Boolean> changeable = new LinkedHashMap<>();

    /** The object whose fields may change between two calls, and its classes. */
    private @Nullable Object placed;

    private final Set<String> places = new HashSet<>();

    private @Nullable String reason;
    private boolean trusts;

    /** Whether all that is found from now on is kept by static fields alone. */
    private boolean inStatics;

    /** Whether the code that is looked at runs when a class is initialised. */
    private boolean initialises;

    private boolean ownOrder;
    private boolean hashes;

    void addRoot(@Nullable Object root) {
      if (root != null && JdkCode.isContainer(root)) {
        addElements(root, "the pipeline", false);
      } else {
        add(root, "the pipeline", false);
      }
    }

    private void add(@Nullable Object object, String holder, boolean own) {
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
        Member field = object == null && call == null ? statics.poll() : null;
        if (object != null) {
          visit(object, seen.getOrDefault(object, ""));
        } else if (call != null) {
          initialises = call.initialises();
          follow(call);
        } else if (field != null) {
          inStatics = true;
          visitStatic(field);
        } else {
          return reasonOfFields();
        }
        if (seen.size() > MAX_OBJECTS || classes.size() > MAX_CLASSES) {
          return "it is more than can be looked at";
        }
      }
      return reason;
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

    /** Enumerations have hash codes of the process. */
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
      for (Map.Entry<Member, Boolean> field : changeable.entrySet()) {
        Read read = reads.get(field.getKey());
        if (read != null) {
          String why = fields(read.loader()).reasonItChanges(field.getKey(), field.getValue());
          if (why != null) {
            return read.reader() + " reads " + field.getKey() + ", " + why;
          }
        }
      }
      return null;
    }

    private FieldProof fields(@Nullable ClassLoader loader) {
      return new FieldProof(known, name -> find(name, loader));
    }

    private @Nullable ClassCode find(String name, @Nullable ClassLoader loader) {
      Object asks = loader == null ? this : loader;
      if (asked.computeIfAbsent(asks, none -> new HashSet<>()).add(name)) {
        Optional<ClassCode> code =
            Optional.ofNullable(ClassCode.read(name, loader, known.getsItem()));
        Optional<ClassCode> other = classes.putIfAbsent(name, code);
        if (other != null && !code.map(it -> it.checksum).equals(other.map(it -> it.checksum))) {
          throw new IllegalStateException(dotted(name) + " is not the same class everywhere");
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
        return; // The library's generator, whose draws are known.
      } else if (JdkObjects.isOfJdk(type)) {
        reason = holder + " keeps a " + name;
      } else if (inStatics && known.comparesObjects() && isOrExtendsLibrary(type)) {
        reason = holder + " keeps a " + name + " in a static field, where changes are not seen";
      } else if (type.isHidden() || type.isSynthetic()) {
        reason = holder + " keeps a lambda (" + name.replaceAll("[$/].*", "") + ")";
      } else if (isNamedOfLibrary(name)) {
        String why = known.reasonToLeave(type);
        if (why != null) {
          reason = holder + " keeps a " + name + ", which " + why;
        } else {
          visitFields(object, type);
        }
      } else if (known.keepsPlace(type) && placed != null) {
        reason = holder + " keeps a " + name + ", which may be anywhere in its data";
      } else {
        placed = known.keepsPlace(type) ? object : placed;
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
          if (known.keepsPlace(at)) {
            places.add(Type.getInternalName(at));
          }
          if (isProgram(at)) {
            calls.add(new Call(Type.getInternalName(at), null, null, at.getClassLoader(), false));
            if (reason == null && isOrExtendsLibrary(at)) {
              reason =
                  fields(at.getClassLoader())
                      .reasonInheritedChanges(
                          Type.getInternalName(at), PurityAnalyzer.this::isLibrary);
            }
          } else if (JdkObjects.isOfJdk(at) && !PLAIN_PARENTS.contains(at)) {
            reason = holder + " keeps a " + name + ", which is a " + at.getName();
            return;
          }
          initialised.add(Type.getInternalName(at));
        }
        visitFields(object, type);
      }
    }

    private boolean isOrExtendsLibrary(Class<?> type) {
      return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
          .anyMatch(at -> isNamedOfLibrary(at.getName()));
    }

    private void visitFields(Object object, Class<?> type) {
      for (Class<?> at = type; at != null && !JdkObjects.isOfJdk(at); at = at.getSuperclass()) {
        boolean ofLibrary = !isProgram(at);
        if (ofLibrary && known.isClosed(at)) {
          continue;
        }
        boolean own = ofLibrary && (owned.contains(object) || known.keepsItsOwn(at));
        for (Field field : at.getDeclaredFields()) {
          if (Modifier.isStatic(field.getModifiers()) || reason != null) {
            continue;
          }
          if (!field.getType().isPrimitive()) {
            visitValue(value(field, object), field, type.getName(), own);
          }
          if (ofLibrary && !own) {
            visitOfLibrary(at, field, type);
          }
        }
      }
    }

    /** The library's methods read all that its objects keep. */
    private void visitOfLibrary(Class<?> at, Field field, Class<?> type) {
      Member declared = declared(field);
      reads.put(declared, new Read(type.getName(), at.getClassLoader()));
      String why = fields(at.getClassLoader()).reasonItIsSet(declared);
      if (why != null) {
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
      if (value == null || !JdkCode.isContainer(value) || !isOfJdk(value.getClass())) {
        add(value, holder, own);
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

    /** Whether some elements can be changed, too, without being followed on their own. */
    private boolean addElements(Object container, String holder, boolean own) {
      if (reason == null && !own && !JdkCode.isPlain(container)) {
        reason =
            holder + " keeps a " + container.getClass().getName() + " that other code may order";
        return false;
      } else if (reason == null && JdkCode.isOrderedByAccess(container)) {
        reason = holder + " keeps a map that changes when it is asked";
      }
      boolean deep = false;
      for (Object element : elements(container)) {
        if (element != null && JdkCode.isContainer(element) && isOfJdk(element.getClass())) {
          // One that comes up again may contain itself.
          deep |=
              !(own ? ownContainers : containers).add(element) || addElements(element, holder, own);
          deep |= !JdkCode.isFixed(element);
        } else {
          add(element, holder, own);
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

    /** The class is initialised by this, if it is not: all that its initialiser does is known. */
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

    /** Looks at a method of the program's, or at all that run once its object is made. */
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
        if (reason == null && concerns(call, method)) {
          found = true;
          look(method, call.loader());
        }
      }
      if (call.name() == null || (!found && !call.name().equals("<clinit>"))) {
        for (String parent : code.parents) {
          inherit(call, parent);
        }
      }
    }

    private void inherit(Call call, String parent) {
      String name = call.name();
      String descriptor = call.descriptor();
      if (isProgram(parent)) {
        calls.add(new Call(parent, name, descriptor, call.loader(), call.initialises()));
      } else if (name != null
          && descriptor != null
          && !(isLibrary(parent)
              ? known.isKnown(parent, name)
              : JdkCode.isKnown(parent, name, descriptor))) {
        reason = dotted(call.owner()) + " uses " + dotted(parent) + "." + name;
      }
    }

    private boolean concerns(Call call, MethodCode method) {
      if (call.name() != null) {
        return call.name().equals(method.name) && method.descriptor.equals(call.descriptor());
      }
      return (method.access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0
          && !method.name.equals("<init>")
          && !known.isAnnounced(method.name, method.descriptor);
    }

    /** A class that code uses is initialised by that, if it is not yet. */
    private void initialise(String owner, @Nullable ClassLoader loader) {
      if (isProgram(owner) && initialised.add(owner)) {
        calls.add(new Call(owner, "<clinit>", "()V", loader, true));
        ClassCode code = find(owner, loader);
        if (code != null) {
          code.parents.forEach(parent -> initialise(parent, loader));
        }
      }
    }

    private void look(MethodCode method, @Nullable ClassLoader loader) {
      Body body = new Body(method, loader);
      if ((method.access & Opcodes.ACC_NATIVE) != 0) {
        body.leave("is native");
      } else if ((method.access & Opcodes.ACC_SYNCHRONIZED) != 0) {
        body.leave("locks");
      }
      body.forEach(body::changes);
      body.forEach(body::reads);
    }

    /** What one method does. */
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

      private boolean isMaking() {
        return method.name.equals("<init>") || method.name.equals("<clinit>");
      }

      /** Whether what is changed is kept by something that is not just being made. */
      private boolean isKept(Value value) {
        return value.origins().stream()
            .anyMatch(origin -> origin instanceof Kept kept && !(isMaking() && kept.ofThis()));
      }

      /** Whether it is a static field of the class itself, not one that it inherits. */
      private boolean isInitialising(Member used) {
        return method.name.equals("<clinit>")
            && used.owner().equals(method.owner)
            && used.equals(fields.resolve(used));
      }

      /** Whether it is a field that may change between two calls. */
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
          leave("sets its field " + it.name());
        } else if (code == Opcodes.MONITORENTER) {
          leave("locks");
        } else if (instruction.setsElement() && isKept(operands.get(0))) {
          leave("may change an array it keeps");
        } else if (instruction.isCall()
            && code != Opcodes.INVOKESTATIC
            && JdkCode.isOf(JdkCode.CHANGES, it.owner(), it.name())
            && isKept(operands.get(0))) {
          leave("may change a collection it keeps");
        }
      }

      void reads(Instruction instruction, List<Value> operands) {
        Member it = instruction.member();
        switch (instruction.opcode()) {
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
              calls.add(new Call(it.owner(), null, null, loader, initialises));
              initialise(it.owner(), loader);
            } else if (JdkCode.isJdk(it.owner()) && !JdkCode.isKnownType(it.owner())) {
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
              leave("is linked by " + it.className());
            }
            instruction.arguments().forEach(this::linked);
          }
          case Opcodes.LDC -> linked(instruction.arguments().get(0));
          default -> {}
        }
      }

      private void linked(Object constant) {
        if (constant instanceof ConstantDynamic) {
          leave("has a constant that is made as it runs");
        } else if (constant instanceof Handle handle) {
          int tag = handle.getTag();
          Member it = Member.of(handle);
          if (tag <= Opcodes.H_GETSTATIC) {
            read(it, tag == Opcodes.H_GETSTATIC);
          } else if (tag <= Opcodes.H_PUTSTATIC) {
            leave("sets its field " + it.name());
          } else { // A method that a lambda or a method reference stands for.
            boolean virtual = tag == Opcodes.H_INVOKEVIRTUAL || tag == Opcodes.H_INVOKEINTERFACE;
            called(!virtual, it, List.of());
            initialise(it.owner(), loader);
            if (tag == Opcodes.H_NEWINVOKESPECIAL && isProgram(it.owner())) {
              calls.add(new Call(it.owner(), null, null, loader, initialises));
            }
          }
        }
      }

      /** Follows a call of one method, or of whatever an object of the class may do instead. */
      private void called(boolean exact, Member it, List<Value> operands) {
        String owner = it.owner();
        String name = it.name();
        String descriptor = it.descriptor();
        String whole = it.className() + "." + name;
        boolean ofLibrary = isLibrary(owner);
        ownOrder |= JdkCode.hasOwnOrder(owner, name);
        hashes |= JdkCode.hashes(owner);
        if (ofLibrary ? known.readsFile(owner, name) : JdkCode.readsFile(owner, name, descriptor)) {
          if (initialises) {
            leave("reads a file as a class is initialised, which may be at any time");
          } else if (!known.noticesFiles() && operands.stream().noneMatch(Value::item)) {
            leave("reads a file that is not the item asked for (" + whole + ")");
          } else if (operands.isEmpty() || operands.get(0).isOnly(Plain.THIS)) {
            leave("reads a file by a reference to a method, or as a part of its own object");
          }
        } else if (ofLibrary
            ? !known.isKnown(owner, name)
            : JdkCode.isJdk(owner) && !JdkCode.isKnown(owner, name, descriptor)) {
          leave("uses " + whole);
        } else if (isProgram(owner)) {
          if (known.isAnnounced(name, descriptor)) {
            leave("uses " + whole);
          }
          calls.add(new Call(owner, name, descriptor, loader, initialises));
          if (!exact) {
            calls.add(new Call(owner, null, null, loader, initialises));
          }
        }
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
          leave("reads " + it + ", which has no class file");
          return;
        }
        String why =
            !ofClass && places.contains(field.owner()) ? null : fields.reasonItIsSet(field);
        if (isLibrary(field.owner())) {
          if (why != null || descriptor.startsWith("[") || descriptor.startsWith("Ljava/util/")) {
            leave("reads " + field + " of the library");
          }
          return;
        }
        if (why != null) {
          leave("reads " + field + ", " + why);
          return;
        }
        boolean isNew = reads.putIfAbsent(field, new Read(method.where(), loader)) == null;
        if (ofClass) {
          ofClasses.putIfAbsent(field, loader);
          initialise(field.owner(), loader);
          if (isNew && !FieldProof.isPlain(descriptor)) {
            statics.add(field);
          }
        }
      }
    }
  }

  /** What reads a field. */
  private record Read(String reader, @Nullable ClassLoader loader) {}

  /**
   * A method of the program's; without name, all that an object of the class may be asked for.
   *
   * @param initialises whether it may run when a class is initialised, which the proof itself does
   */
  private record Call(
      String owner,
      @Nullable String name,
      @Nullable String descriptor,
      @Nullable ClassLoader loader,
      boolean initialises) {}
}
