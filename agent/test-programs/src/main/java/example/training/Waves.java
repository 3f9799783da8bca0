package example.training;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ShortBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Converts a sound to the energy at each frequency. */
final class Waves {
  /** Number of frequencies. */
  static final int BANDS = 24;

  private Waves() {}

  /** Returns the energies of one sound, on a logarithmic scale. */
  static float[] bands(byte[] bytes) {
    ShortBuffer wave = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asShortBuffer();
    float[] bands = new float[BANDS];
    for (int band = 0; band < BANDS; band++) {
      double sine = 0;
      double cosine = 0;
      for (int i = 0; i < wave.limit(); i++) {
        double angle = 0.01 * (band + 1) * i;
        sine += Math.sin(angle) * wave.get(i);
        cosine += Math.cos(angle) * wave.get(i);
      }
      bands[band] = (float) Math.log1p(sine * sine + cosine * cosine);
    }
    return bands;
  }

  /** Returns a folder's sounds, sorted by name. */
  static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".pcm")).sorted().toList();
    }
  }
}
