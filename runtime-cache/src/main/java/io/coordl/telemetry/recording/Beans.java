package io.coordl.telemetry.recording;

import io.coordl.host.AgentThread;
import io.coordl.telemetry.event.AgentEvents;
import io.coordl.telemetry.event.StoreStatisticsEvent;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the totals so far as MBeans: {@code io.coordl:type=Job}, and {@code
 * type=Store,name=...} for each store. Attributes are the fields of the events, with the suffix
 * {@code Nanos} or {@code Bytes} if that is their unit.
 */
record Beans(JobFigures job) {
  private static final String DOMAIN = "io.coordl:type=";

  /** Registers the beans on a separate thread, because the first use of JMX is slow. */
  void start() {
    new AgentThread("coordl-jmx", this::registerAll).start();
  }

  private void registerAll() {
    try {
      // Reading the job also registers stores added since.
      register(
          "Job",
          () -> {
            registerStores();
            return job.ended();
          });
      registerStores();
    } catch (JMException | RuntimeException e) {
      job.log().say("jmx=on registers no MBean (" + e + ")");
    }
  }

  private synchronized void registerStores() {
    for (StoreStatisticsEvent store : job.stores()) {
      try {
        String form = String.valueOf(store.store);
        register("Store,name=" + form, () -> store(form));
      } catch (JMException | RuntimeException e) {
        job.log().say("jmx=on does not show the " + store.store + " store (" + e + ")");
      }
    }
  }

  private Event store(String form) {
    return job.stores().stream().filter(store -> store.keeps(form)).findFirst().orElseThrow();
  }

  private synchronized void register(String name, Supplier<Event> event) throws JMException {
    ObjectName full = new ObjectName(DOMAIN + name);
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    if (!server.isRegistered(full)) {
      server.registerMBean(new Bean(event), full);
    }
  }

  private static final class Bean implements DynamicMBean {
    private final Supplier<Event> event;
    private final Map<String, Field> fields = new TreeMap<>();

    Bean(Supplier<Event> event) {
      this.event = event;
      for (Field field : AgentEvents.fields(event.get().getClass())) {
        fields.put(name(field), field);
      }
    }

    private static String name(Field field) {
      String name = field.getName();
      String unit =
          field.isAnnotationPresent(Timespan.class)
              ? "Nanos"
              : field.isAnnotationPresent(DataAmount.class)
                      && !name.toLowerCase(Locale.ROOT).endsWith("bytes")
                  ? "Bytes"
                  : "";
      return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1) + unit;
    }

    @Override
    public @Nullable Object getAttribute(String attribute) throws AttributeNotFoundException {
      return getAttributes(new String[] {attribute}).asList().stream()
          .findFirst()
          .orElseThrow(() -> new AttributeNotFoundException(attribute))
          .getValue();
    }

    /** Returns attributes read at the same moment; skips unknown ones, as JMX requires. */
    @Override
    public AttributeList getAttributes(String[] attributes) {
      Event now = event.get();
      AttributeList found = new AttributeList();
      for (String attribute : attributes) {
        Field field = fields.get(attribute);
        try {
          if (field != null) {
            found.add(new Attribute(attribute, field.get(now)));
          }
        } catch (IllegalAccessException e) {
          throw new IllegalStateException(e);
        }
      }
      return found;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
      throw new AttributeNotFoundException(attribute.getName() + " is read-only");
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
      return new AttributeList();
    }

    @Override
    public Object invoke(String action, Object[] parameters, String[] signature)
        throws MBeanException {
      throw new MBeanException(new UnsupportedOperationException(action));
    }

    @Override
    public MBeanInfo getMBeanInfo() {
      MBeanAttributeInfo[] attributes =
          fields.entrySet().stream()
              .map(
                  field ->
                      new MBeanAttributeInfo(
                          field.getKey(),
                          field.getValue().getType().getName(),
                          field.getValue().getAnnotation(Description.class).value(),
                          true,
                          false,
                          false))
              .toArray(MBeanAttributeInfo[]::new);
      return new MBeanInfo(
          getClass().getName(), "Totals of a CoorDL job", attributes, null, null, null);
    }
  }
}
