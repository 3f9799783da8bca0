package io.coordl.reports.jmc;

import java.io.File;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;
import org.osgi.framework.wiring.BundleWiring;

/**
 * Starts the plug-in framework of the Mission Control application with Mission Control's own
 * bundles and finds rules as the application does: in the service file of each bundle that
 * contributes to the extension point {@code ruleProvider}. Prints the rules' ids.
 */
final class Equinox {
  private static final String POINT = "org.openjdk.jmc.flightrecorder.rules.ruleProvider";

  private Equinox() {}

  /** The first argument is a folder for the framework, the others are the bundles. */
  public static void main(String[] arguments) throws Exception {
    Framework framework =
        ServiceLoader.load(FrameworkFactory.class)
            .findFirst()
            .orElseThrow()
            .newFramework(Map.of("org.osgi.framework.storage", arguments[0]));
    framework.start();
    try {
      printRules(framework.getBundleContext(), arguments);
    } finally {
      // Its threads would keep the JVM alive.
      framework.stop();
      framework.waitForStop(0);
    }
  }

  private static void printRules(BundleContext context, String[] arguments) throws Exception {
    List<Bundle> bundles = new ArrayList<>();
    for (int i = 1; i < arguments.length; i++) {
      bundles.add(context.installBundle(new File(arguments[i]).toURI().toString()));
    }
    for (Bundle bundle : bundles) {
      bundle.start();
    }
    for (String contributor : contributors(context)) {
      for (Bundle bundle : bundles) {
        if (contributor.equals(bundle.getSymbolicName())) {
          print(bundle);
        }
      }
    }
  }

  /** The registry's classes are in a bundle, so this class calls them by reflection. */
  private static List<String> contributors(BundleContext context) throws Exception {
    ServiceReference<?> reference =
        context.getServiceReference("org.eclipse.core.runtime.IExtensionRegistry");
    Object registry = context.getService(reference);
    Method find = registry.getClass().getMethod("getConfigurationElementsFor", String.class);
    find.setAccessible(true);
    List<String> names = new ArrayList<>();
    for (Object element : (Object[]) find.invoke(registry, POINT)) {
      Object contributor = call(element, "getContributor");
      names.add((String) call(contributor, "getName"));
    }
    return names;
  }

  private static void print(Bundle bundle) throws Exception {
    ClassLoader loader = bundle.adapt(BundleWiring.class).getClassLoader();
    Class<?> rule = loader.loadClass("org.openjdk.jmc.flightrecorder.rules.IRule");
    for (Object found : ServiceLoader.load(rule, loader)) {
      System.out.println(bundle.getSymbolicName() + " has " + call(found, "getId"));
    }
  }

  private static Object call(Object target, String method) throws Exception {
    Method found = target.getClass().getMethod(method);
    found.setAccessible(true);
    return found.invoke(target);
  }
}
