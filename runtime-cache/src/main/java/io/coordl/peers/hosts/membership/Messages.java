package io.coordl.peers.hosts.membership;

import java.io.DataInput;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Supplier;
import org.jgroups.BytesMessage;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.MessageFactory;
import org.jgroups.ObjectMessage;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.util.Digest;
import org.jgroups.util.MutableDigest;
import org.jgroups.util.SeqnoList;
import org.jgroups.util.SizeStreamable;

/**
 * The messages that this host accepts: only those that JGroups' protocols exchange. JGroups decodes
 * a message before any protocol receives it, and its own message types create any object that the
 * sender names: serialised objects, and any class by name. Here bytes stay bytes, and an object is
 * one of the three lists of numbers that {@code NAKACK2}, {@code UNICAST3} and {@code STABLE} send.
 */
final class Messages extends MessageFactory {
  private static final byte NOTHING = 0;

  private Messages() {}

  /**
   * Replaces JGroups' message types. The setting is static, but the agent's loader has its own
   * JGroups.
   */
  static void restrict() {
    Arrays.fill(creators, null);
    creators[Message.EMPTY_MSG] = EmptyMessage::new;
    creators[Message.BYTES_MSG] = Bytes::new;
    creators[Message.OBJ_MSG] = Numbers::new;
  }

  /** Bytes that are never deserialised. */
  private static final class Bytes extends BytesMessage {
    @Override
    public Supplier<Message> create() {
      return Bytes::new;
    }

    @Override
    @SuppressWarnings("TypeParameterUnusedInFormals") // As JGroups declares it.
    public <T> T getObject(ClassLoader loader) {
      if (isFlagSet(Message.Flag.SERIALIZED)) {
        throw new IllegalArgumentException("peers never send objects");
      }
      return super.getObject(loader);
    }
  }

  /** A list of numbers. */
  private static final class Numbers extends ObjectMessage {
    private static final Set<Short> ALLOWED =
        Set.of(
            ClassConfigurator.getMagicNumber(SeqnoList.class),
            ClassConfigurator.getMagicNumber(Digest.class),
            ClassConfigurator.getMagicNumber(MutableDigest.class));

    @Override
    public Supplier<Message> create() {
      return Numbers::new;
    }

    /** Reads like {@code Util.readSizeStreamable}, but only these classes. */
    @Override
    public void readPayload(DataInput in) throws IOException, ClassNotFoundException {
      if (in.readByte() == NOTHING) {
        return;
      }
      short type = in.readShort();
      if (!ALLOWED.contains(type)) {
        throw new InvalidObjectException("peers never send objects of type " + type);
      }
      SizeStreamable list = ClassConfigurator.create(type);
      list.readFrom(in);
      obj = list;
    }
  }
}
