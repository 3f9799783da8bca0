package example.images;

import java.io.File;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import org.datavec.api.split.FileSplit;
import org.datavec.api.writable.NDArrayWritable;
import org.datavec.api.writable.Writable;
import org.datavec.image.recordreader.objdetect.ImageObject;
import org.datavec.image.recordreader.objdetect.ImageObjectLabelProvider;
import org.datavec.image.recordreader.objdetect.ObjectDetectionRecordReader;
import org.datavec.image.transform.FlipImageTransform;
import org.datavec.image.transform.ImageTransform;

/**
 * Reads pictures for three epochs, as a program that trains a detector does. In the last epoch,
 * flips them at random. Argument: a folder of pictures.
 */
public final class UseDetection {
  private UseDetection() {}

  /** Prints a line per record. */
  public static void main(String[] args) throws Exception {
    ImageTransform flip = new FlipImageTransform(new Random(7));
    for (int epoch = 1; epoch <= 3; epoch++) {
      try (ObjectDetectionRecordReader reader =
          new ObjectDetectionRecordReader(32, 48, 3, 4, 6, new OneBox(), epoch < 3 ? null : flip)) {
        reader.initialize(new FileSplit(new File(args[0]), new Random(3)));
        while (reader.hasNext()) {
          System.out.println(epoch + " " + text(reader.next()));
        }
      }
    }
  }

  private static String text(List<Writable> record) {
    CRC32 crc = new CRC32();
    for (Writable part : record) {
      for (float value : ((NDArrayWritable) part).get().dup('c').data().asFloat()) {
        int bits = Float.floatToRawIntBits(value);
        for (int shift = 0; shift < 32; shift += 8) {
          crc.update(bits >>> shift);
        }
      }
    }
    return String.format(Locale.ROOT, "%08x", crc.getValue());
  }

  /** One object, whose place in the grid depends on the size of the decoded picture. */
  private static final class OneBox implements ImageObjectLabelProvider {
    @Override
    public List<ImageObject> getImageObjectsForPath(String path) {
      return List.of(new ImageObject(10, 20, 110, 90, "thing"));
    }

    @Override
    public List<ImageObject> getImageObjectsForPath(URI uri) {
      return getImageObjectsForPath(uri.toString());
    }
  }
}
