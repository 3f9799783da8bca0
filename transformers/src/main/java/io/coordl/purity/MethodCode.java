package io.coordl.purity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.IntStream;
import net.bytebuddy.jar.asm.Handle;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
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

  /** Where each label is, as the index of the instruction after it. */
  final IdentityHashMap<Label, Integer> places = new IdentityHashMap<>();

  /** Whether its argument of type {@code long} says which item of a data set is asked for. */
  final boolean getsItem;

  private @Nullable Flow flow;

  /**
   * @param owner of a member, or the type of a type instruction; empty elsewhere
   * @param operand slot of a local variable, or dimensions
   * @param arguments of a call-site, or the constant that is loaded
   */
  record Instruction(
      int opcode,
      String owner,
      String name,
      String descriptor,
      int operand,
      List<Label> targets,
      List<Object> arguments) {}

  /** What {@code handler} catches. */
  record Handler(Label start, Label end, Label handler) {}

  MethodCode(String owner, int access, String name, String descriptor, boolean getsItem) {
    super(OpenedClassReader.ASM_API);
    this.owner = owner;
    this.access = access;
    this.name = name;
    this.descriptor = descriptor;
    this.getsItem = getsItem;
  }

  boolean isStatic() {
    return (access & Opcodes.ACC_STATIC) != 0;
  }

  /** How many lambdas and method references of a type it has. */
  int lambdas(String type) {
    return (int)
        instructions.stream()
            .filter(it -> it.opcode() == Opcodes.INVOKEDYNAMIC)
            .filter(it -> Type.getReturnType(it.descriptor()).getDescriptor().equals(type))
            .count();
  }

  /** Where its values come from. */
  Flow flow() {
    Flow known = flow;
    if (known == null) {
      known = new Flow(this);
      flow = known;
    }
    return known;
  }

  private void add(int opcode, String of, String named, String described, int operand) {
    instructions.add(new Instruction(opcode, of, named, described, operand, List.of(), List.of()));
  }

  private void add(int opcode, List<Label> targets, List<Object> arguments) {
    instructions.add(new Instruction(opcode, "", "", "", 0, targets, arguments));
  }

  @Override
  public void visitInsn(int opcode) {
    add(opcode, "", "", "", 0);
  }

  @Override
  public void visitIntInsn(int opcode, int operand) {
    add(opcode, "", "", "", operand);
  }

  @Override
  public void visitVarInsn(int opcode, int slot) {
    add(opcode, "", "", "", slot);
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    add(opcode, type, "", "", 0);
  }

  @Override
  public void visitFieldInsn(int opcode, String of, String field, String described) {
    add(opcode, of, field, described, 0);
  }

  @Override
  public void visitMethodInsn(
      int opcode, String of, String method, String described, boolean ofInterface) {
    add(opcode, of, method, described, 0);
  }

  @Override
  public void visitInvokeDynamicInsn(
      String method, String described, Handle bootstrap, Object... arguments) {
    List<Object> all = new ArrayList<>(Arrays.asList(arguments));
    instructions.add(
        new Instruction(
            Opcodes.INVOKEDYNAMIC, bootstrap.getOwner(), method, described, 0, List.of(), all));
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
    add(Opcodes.IINC, "", "", "", slot);
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
    add(Opcodes.MULTIANEWARRAY, described, "", "", dimensions);
  }

  @Override
  public void visitTryCatchBlock(Label start, Label end, Label handler, @Nullable String type) {
    handlers.add(new Handler(start, end, handler));
  }
}
