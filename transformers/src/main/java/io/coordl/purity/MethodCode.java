package io.coordl.purity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** The code of one method. */
final class MethodCode {
  final String owner;
  final int access;
  final String name;
  final String descriptor;
  final List<Instruction> instructions = new ArrayList<>();

  /** Whether its argument of type {@code long} says which item of a data set is asked for. */
  final boolean getsItem;

  private final MethodNode node;
  private @Nullable Flow flow;

  /**
   * @param owner of a member, the type of a type instruction, or who links a call-site; empty
   *     elsewhere, as name and descriptor are
   * @param arguments of a call-site, or the constant that is loaded
   */
  record Instruction(
      AbstractInsnNode node, String owner, String name, String descriptor, List<Object> arguments) {
    static Instruction of(AbstractInsnNode node) {
      if (node instanceof MethodInsnNode call) {
        return new Instruction(node, call.owner, call.name, call.desc, List.of());
      } else if (node instanceof FieldInsnNode field) {
        return new Instruction(node, field.owner, field.name, field.desc, List.of());
      } else if (node instanceof InvokeDynamicInsnNode site) {
        List<Object> arguments = Arrays.asList(site.bsmArgs);
        return new Instruction(node, site.bsm.getOwner(), site.name, site.desc, arguments);
      } else if (node instanceof LdcInsnNode constant) {
        return new Instruction(node, "", "", "", List.of(constant.cst));
      }
      String type = node instanceof TypeInsnNode of ? of.desc : "";
      return new Instruction(node, type, "", "", List.of());
    }

    int opcode() {
      return node.getOpcode();
    }
  }

  MethodCode(String owner, MethodNode node, boolean getsItem) {
    this.owner = owner;
    this.access = node.access;
    this.name = node.name;
    this.descriptor = node.desc;
    this.getsItem = getsItem;
    this.node = node;
    for (AbstractInsnNode one : node.instructions) {
      if (one.getOpcode() >= 0) { // Others are labels.
        instructions.add(Instruction.of(one));
      }
    }
  }

  /** Where its values come from. */
  Flow flow() {
    Flow known = flow;
    if (known == null) {
      known = new Flow(this, node);
      flow = known;
    }
    return known;
  }
}
