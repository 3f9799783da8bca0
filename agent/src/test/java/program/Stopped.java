package program;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Stops threads at arbitrary instructions while they read files, then prints "ended". Arguments: a
 * directory, the number of stops. Needs a JDK whose {@code Thread.stop} works.
 */
public final class Stopped {
  private static final int AT_A_TIME = 4;
  private static final int WARM_UP = 2_000;

  private Stopped() {}

  @SuppressWarnings({"deprecation", "removal"})
  public static void main(String[] arguments) throws Exception {
    File[] files = new File(arguments[0]).listFiles();
    int stops = Integer.parseInt(arguments[1]);
    warmUp(files);
    for (int stopped = 0; stopped < stops; stopped += AT_A_TIME) {
      Thread[] readers = new Thread[AT_A_TIME];
      for (int i = 0; i < AT_A_TIME; i++) {
        readers[i] = new Thread(() -> read(files));
        readers[i].setUncaughtExceptionHandler((thread, death) -> {});
        readers[i].start();
      }
      Thread.sleep(2);
      for (Thread reader : readers) {
        reader.stop();
      }
      for (Thread reader : readers) {
        reader.join();
      }
    }
    System.out.println("ended");
  }

  /**
   * Loads the classes that reading needs. A class whose initializer is stopped becomes unusable,
   * even without the agent, and the JDK swallows a stop while an agent inspects a class.
   */
  private static void warmUp(File[] files) throws InterruptedException {
    Thread[] readers = new Thread[AT_A_TIME];
    for (int i = 0; i < AT_A_TIME; i++) {
      readers[i] =
          new Thread(
              () -> {
                for (int time = 0; time < WARM_UP; time++) {
                  once(files);
                }
              });
      readers[i].start();
    }
    for (Thread reader : readers) {
      reader.join();
    }
  }

  private static void read(File[] files) {
    while (true) {
      once(files);
    }
  }

  private static void once(File[] files) {
    for (File file : files) {
      try (InputStream in = new FileInputStream(file)) {
        in.read();
      } catch (IOException e) {
        // A failed read does not end the thread; only a stop does.
      }
    }
  }
}
