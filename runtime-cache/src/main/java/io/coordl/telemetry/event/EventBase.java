package io.coordl.telemetry.event;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** Base of all events of the agent; its annotations are inherited. */
@Category("CoorDL")
@Registered(false)
@StackTrace(false)
abstract class EventBase extends Event implements Cloneable {
  @Override
  protected Object clone() {
    try {
      return super.clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }
}
