package io.coordl.bridge;

import java.io.File;
import java.io.IOException;
import javax.sound.sampled.AudioInputStream;
import javax.sound.sampled.AudioSystem;
import javax.sound.sampled.UnsupportedAudioFileException;

/**
 * The part of {@link FileReads} for sound files. Needs {@code java.desktop}, like {@link
 * ImageReads}. The JDK itself reads the file, because it derives the length of the sound from the
 * file. The agent only records which file is opened.
 */
public final class SoundReads {
  private SoundReads() {}

  public static AudioInputStream getAudioInputStream(File file)
      throws UnsupportedAudioFileException, IOException {
    if (file != null) {
      if (ItemCursor.isResolved(file.getPath())) {
        Producers.opens(file.getPath());
      } else {
        Producers.opensUnknown();
      }
    }
    return AudioSystem.getAudioInputStream(file);
  }
}
