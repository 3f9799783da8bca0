package io.coordl.recording;

import io.coordl.event.AgentEvents;
import io.coordl.event.StoreStatisticsEvent;
import io.coordl.thread.AgentThread;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
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
import javax.management.ReflectionException;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The totals so far for whoever reads MBeans: {@code io.coordl:type=Job}, and {@code
 * type=Store,name=...} for each store. Attributes are the fields of the events, with {@code Nanos}
 * or {@code Bytes} at the end where that is their unit.
 */
final class Beans {
  private static final String DOMAIN = "io.coordl:type=";

  private final JobMonitor job;
  private final Set<ObjectName> known = new HashSet<>();

  Beans(JobMonitor job) {
    this.job = job;
  }

  /** On a thread of its own: the first use of JMX takes its time. */
  void start() {
    new AgentThread("coordl-jmx", this::registerAll).start();
  }

  private void registerAll() {
    try {
      // Who reads the job looks for stores that have come meanwhile.
      register(
          "Job",
          () -> {
            registerStores();
            return job.totals();
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
    if (known.add(full)) {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
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
    public @Nullable Object getAttribute(String attribute)
        throws AttributeNotFoundException, ReflectionException {
      return value(event.get(), attribute);
    }

    private @Nullable Object value(Event now, String attribute)
        throws AttributeNotFoundException, ReflectionException {
      Field field = fields.get(attribute);
      if (field == null) {
        throw new AttributeNotFoundException(attribute);
      }
      try {
        return field.get(now);
      } catch (IllegalAccessException e) {
        throw new ReflectionException(e);
      }
    }

    /** All of one moment. */
    @Override
    public AttributeList getAttributes(String[] attributes) {
      Event now = event.get();
      AttributeList found = new AttributeList();
      for (String attribute : attributes) {
        try {
          found.add(new Attribute(attribute, value(now, attribute)));
        } catch (AttributeNotFoundException | ReflectionException e) {
          // As JMX has it, those that cannot be read are left out.
        }
      }
      return found;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
      throw new AttributeNotFoundException(attribute.getName() + " can be read only");
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
                          description(field.getValue()),
                          true,
                          false,
                          false))
              .toArray(MBeanAttributeInfo[]::new);
      return new MBeanInfo(
          getClass().getName(), "Totals of a CoorDL job", attributes, null, null, null);
    }

    private static String description(Field field) {
      Description description = field.getAnnotation(Description.class);
      return description == null ? field.getName() : description.value();
    }
  }
}
