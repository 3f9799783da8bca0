package io.coordl.benchmarks.micro;

import java.io.File;
import java.io.IOException;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.CouldNotLoadRecordingException;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/**
 * Reads a recording with JDK Mission Control's parser and prints the number of events by type.
 * Argument: file.
 */
public final class MissionControlReading {
  private MissionControlReading() {}

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws IOException, CouldNotLoadRecordingException {
    IItemCollection events = JfrLoaderToolkit.loadEvents(new File(args[0]));
    for (IItemIterable ofOneType : events) {
      System.out.println(ofOneType.getType().getIdentifier() + " " + ofOneType.getItemCount());
    }
  }
}
