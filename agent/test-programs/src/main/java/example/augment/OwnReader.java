package example.augment;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.TranslateException;
import ai.djl.util.RandomUtils;
import example.bits.Checksum;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import javax.imageio.ImageReader;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;

/**
 * Random crops of JPEG files, decoded by the program's own reader, which draws a random number per
 * file. Argument: a folder with one folder of pictures per class. Prints a line per batch.
 */
public final class OwnReader {
  private OwnReader() {}

  /** Runs two epochs. */
  public static void main(String[] args) throws IOException, TranslateException {
    IIORegistry registry = IIORegistry.getDefaultInstance();
    ImageReaderSpi jpeg =
        (ImageReaderSpi) registry.getServiceProviderByClass(jpegReader().asSubclass(Object.class));
    registry.registerServiceProvider(new DrawsRandomNumber(jpeg));
    registry.deregisterServiceProvider(jpeg);
    Engine.getInstance().setRandomSeed(1);
    ImageFolder pictures =
        ImageFolder.builder()
            .setRepositoryPath(Path.of(args[0]))
            .optMaxDepth(2)
            .setSampling(16, true)
            .addTransform(new RandomResizedCrop(24, 24))
            .addTransform(new ToTensor())
            .build();
    pictures.prepare();
    try (NDManager manager = NDManager.newBaseManager()) {
      for (int epoch = 1; epoch <= 2; epoch++) {
        for (Batch batch : pictures.getData(manager)) {
          System.out.println(
              new Checksum().add(batch.getData().head().toByteBuffer(), "data")
                  + " "
                  + batch.getManager().getName());
          batch.close();
        }
        System.out.println("drawn " + RandomUtils.nextInt());
      }
    }
  }

  private static Class<?> jpegReader() {
    try {
      return Class.forName("com.sun.imageio.plugins.jpeg.JPEGImageReaderSpi");
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Draws a random number and delegates to the JDK's reader. */
  private static final class DrawsRandomNumber extends ImageReaderSpi {
    private final ImageReaderSpi delegate;

    DrawsRandomNumber(ImageReaderSpi delegate) {
      this.delegate = delegate;
    }

    @Override
    public boolean canDecodeInput(Object source) throws IOException {
      return delegate.canDecodeInput(source);
    }

    @Override
    public ImageReader createReaderInstance(Object extension) throws IOException {
      RandomUtils.nextInt();
      return delegate.createReaderInstance(extension);
    }

    @Override
    public String getDescription(Locale locale) {
      return "JPEG reader that draws random numbers";
    }
  }
}
