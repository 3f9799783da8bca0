package io.coordl.purity;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.utility.OpenedClassReader;
import org.jspecify.annotations.Nullable;

/** The instructions of one method. */
final class MethodCode extends MethodVisitor {
  final String owner;
  final int access;
  final String name;
  final String descriptor;
  final List<Instruction> instructions = new ArrayList<>();
  final List<Handler> handlers = new ArrayList<>();

  /** Position of each label: the index of the next instruction. */
  final IdentityHashMap<Label, Integer> places = new IdentityHashMap<>();

  private @Nullable Flow flow;

  /**
   * One instruction.
   *
   * @param member the member used; for a type instruction, its owner is the type
   * @param operand the instruction's number, such as a variable's slot or a count of dimensions
   * @param arguments arguments of a call site, or the loaded constant
   */
  record Instruction(
      int opcode, Member member, int operand, List<Label> targets, List<Object> arguments) {
    boolean makesArray() {
      return opcode == Opcodes.NEWARRAY
          || opcode == Opcodes.ANEWARRAY
          || opcode == Opcodes.MULTIANEWARRAY;
    }

    /** Whether it calls a method directly; false for invokedynamic. */
    boolean isCall() {
      return opcode >= Opcodes.INVOKEVIRTUAL && opcode <= Opcodes.INVOKEINTERFACE;
    }

    boolean setsField() {
      return opcode == Opcodes.PUTFIELD || opcode == Opcodes.PUTSTATIC;
    }

    boolean usesField() {
      return opcode >= Opcodes.GETSTATIC && opcode <= Opcodes.PUTFIELD;
    }

    boolean setsElement() {
      return opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE;
    }

    /** Whether it only moves references between the stack and local variables. */
    boolean moves() {
      return opcode == Opcodes.ASTORE || (opcode >= Opcodes.POP && opcode <= Opcodes.SWAP);
    }
  }

  /** An exception handler and the range that it covers. */
  record Handler(Label start, Label end, Label handler) {}

  MethodCode(String owner, int access, String name, String descriptor) {
    super(OpenedClassReader.ASM_API);
    this.owner = owner;
    this.access = access;
    this.name = name;
    this.descriptor = descriptor;
  }

  /** Whether it may catch an exception and return; false if each handler throws in the end. */
  boolean swallows() {
    return handlers.stream().anyMatch(handler -> mayReturn(place(handler.handler())));
  }

  /** Whether a jump may lead to the instruction with this index. */
  boolean isTarget(int at) {
    return instructions.stream()
        .flatMap(it -> it.targets().stream())
        .anyMatch(target -> place(target) == at);
  }

  private int place(Label label) {
    return Objects.requireNonNull(places.get(label));
  }

  /** Whether a path from an instruction ends with a return. */
  private boolean mayReturn(int start) {
    Set<Integer> reached = new HashSet<>(Set.of(start));
    Deque<Integer> open = new ArrayDeque<>(reached);
    Integer at;
    while ((at = open.poll()) != null) {
      Instruction it = instructions.get(at);
      if (it.opcode() >= Opcodes.IRETURN && it.opcode() <= Opcodes.RETURN) {
        return true;
      }
      List<Integer> next = new ArrayList<>(it.targets().stream().map(this::place).toList());
      if (it.opcode() != Opcodes.GOTO
          && it.opcode() != Opcodes.ATHROW
          && it.opcode() != Opcodes.TABLESWITCH
          && it.opcode() != Opcodes.LOOKUPSWITCH) {
        next.add(at + 1);
      }
      next.stream().filter(reached::add).forEach(open::add);
    }
    return false;
  }

  String signature() {
    return name + descriptor;
  }

  boolean isStatic() {
    return (access & Opcodes.ACC_STATIC) != 0;
  }

  /** Returns the origins of the method's values. */
  Flow flow() {
    Flow known = flow;
    if (known == null) {
      known = new Flow(this);
      flow = known;
    }
    return known;
  }

  /** Returns the class name and method name, for the user. */
  String where() {
    return owner.replace('/', '.') + "." + name;
  }

  private void add(int opcode, Member member, int operand) {
    instructions.add(new Instruction(opcode, member, operand, List.of(), List.of()));
  }

  private void add(int opcode, List<Label> targets, List<Object> arguments) {
    instructions.add(new Instruction(opcode, Member.NONE, 0, targets, arguments));
  }

  @Override
  public void visitInsn(int opcode) {
    add(opcode, Member.NONE, 0);
  }

  @Override
  public void visitIntInsn(int opcode, int operand) {
    add(opcode, Member.NONE, operand);
  }

  @Override
  public void visitVarInsn(int opcode, int slot) {
    add(opcode, Member.NONE, slot);
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    add(opcode, new Member(type, "", ""), 0);
  }

  @Override
  public void visitFieldInsn(int opcode, String of, String field, String described) {
    add(opcode, new Member(of, field, described), 0);
  }

  @Override
  public void visitMethodInsn(
      int opcode, String of, String method, String described, boolean ofInterface) {
    add(opcode, new Member(of, method, described), 0);
  }

  @Override
  public void visitInvokeDynamicInsn(
      String method, String described, Handle bootstrap, Object... arguments) {
    Member linked = new Member(bootstrap.getOwner(), method, described);
    instructions.add(
        new Instruction(Opcodes.INVOKEDYNAMIC, linked, 0, List.of(), List.of(arguments)));
  }

  @Override
  public void visitJumpInsn(int opcode, Label target) {
    add(opcode, List.of(target), List.of());
  }

  @Override
  public void visitLabel(Label label) {
    places.put(label, instructions.size());
  }

  @Override
  public void visitLdcInsn(Object value) {
    add(Opcodes.LDC, List.of(), List.of(value));
  }

  @Override
  public void visitIincInsn(int slot, int increment) {
    add(Opcodes.IINC, Member.NONE, slot);
  }

  @Override
  public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
    visitLookupSwitchInsn(otherwise, IntStream.rangeClosed(min, max).toArray(), labels);
  }

  @Override
  public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
    List<Label> targets = new ArrayList<>(Arrays.asList(labels));
    targets.add(otherwise);
    add(Opcodes.LOOKUPSWITCH, targets, List.of());
  }

  @Override
  public void visitMultiANewArrayInsn(String described, int dimensions) {
    add(Opcodes.MULTIANEWARRAY, Member.NONE, dimensions);
  }

  @Override
  public void visitTryCatchBlock(Label start, Label end, Label handler, @Nullable String type) {
    handlers.add(new Handler(start, end, handler));
  }
}
