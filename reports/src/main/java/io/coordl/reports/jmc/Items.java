package io.coordl.reports.jmc;

import io.coordl.reports.recording.JobRecording;
import io.coordl.reports.recording.RecordingCollector;
import io.coordl.reports.recording.RecordingException;
import java.nio.file.Path;
import java.util.Map;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.ItemFilters;

/** What Mission Control has read. Only totals are looked at, however many events there are. */
final class Items {
  private static final Path NAME = Path.of("recording");

  private Items() {}

  /** True if the agent wrote something. */
  static boolean areOurs(IItemCollection items) {
    for (IItemIterable ofOneType : items) {
      if (ofOneType.getType().getIdentifier().startsWith("io.coordl.") && ofOneType.hasItems()) {
        return true;
      }
    }
    return false;
  }

  /**
   * What the events say of the job.
   *
   * @throws RecordingException if they are of several runs or of another version of the agent
   */
  static JobRecording recording(IItemCollection items) throws RecordingException {
    RecordingCollector collector = new RecordingCollector();
    for (IItemIterable ofOneType : items.apply(ItemFilters.type(collector.types()))) {
      String type = ofOneType.getType().getIdentifier();
      Map<String, IMemberAccessor<?, IItem>> fields = ItemEvent.fields(ofOneType.getType());
      for (IItem item : ofOneType) {
        collector.take(type, new ItemEvent(item, fields));
      }
    }
    return collector.recording(NAME);
  }
}
