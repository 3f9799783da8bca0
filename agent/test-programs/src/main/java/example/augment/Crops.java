package example.augment;

import ai.djl.basicdataset.cv.classification.ImageFolder;
import ai.djl.engine.Engine;
import ai.djl.modality.cv.transform.CenterCrop;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.RandomFlipLeftRight;
import ai.djl.modality.cv.transform.RandomFlipTopBottom;
import ai.djl.modality.cv.transform.RandomResizedCrop;
import ai.djl.modality.cv.transform.ResizeShort;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Transform;
import ai.djl.translate.TranslateException;
import ai.djl.util.RandomUtils;
import example.bits.Checksum;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.imageio.ImageIO;

/**
 * Sends pictures of many sizes through many pipelines. Argument: a folder for the pictures. Prints
 * a line per batch, and numbers drawn from DJL's random generator.
 */
public final class Crops {
  private static final int PICTURES = 44;
  private static final int BATCH = 8;
  private static final int EPOCHS = 3;

  private static final float[] MEAN = {.485f, .456f, .406f};
  private static final float[] STD = {.229f, .224f, .225f};

  private Crops() {}

  /** Runs all pipelines, one after another. */
  public static void main(String[] args) throws IOException, TranslateException {
    Path folder = Path.of(args[0]);
    write(folder);
    for (Map.Entry<String, List<Transform>> pipeline : pipelines().entrySet()) {
      System.out.println("pipeline " + pipeline.getKey());
      Engine.getInstance().setRandomSeed(1);
      try (NDManager manager = NDManager.newBaseManager()) {
        loop(folder, manager, pipeline.getValue(), null);
      }
    }
    changes(folder);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (NDManager manager = NDManager.newBaseManager()) {
      System.out.println("on an executor");
      loop(folder, manager, crops(), executor);
    } finally {
      executor.shutdown();
    }
  }

  private static List<Transform> crops() {
    return List.of(
        new RandomResizedCrop(32, 32),
        new RandomFlipLeftRight(),
        new ToTensor(),
        new Normalize(MEAN, STD));
  }

  private static Map<String, List<Transform>> pipelines() {
    ToTensor tensor = new ToTensor();
    Normalize normalize = new Normalize(MEAN, STD);
    Map<String, List<Transform>> all = new LinkedHashMap<>();
    all.put("crops", crops());
    all.put("larger", List.of(new RandomResizedCrop(150, 110), new RandomFlipTopBottom(), tensor));
    all.put("in the middle", List.of(new RandomResizedCrop(16, 16, 1, 1, .2, .3), tensor));
    all.put("short edge", List.of(new ResizeShort(40), new CenterCrop(32, 32), tensor, normalize));
    all.put("twice", List.of(new RandomResizedCrop(48, 40), new RandomResizedCrop(24, 24), tensor));
    all.put("no tensor", List.of(new RandomResizedCrop(24, 24)));
    all.put("tensor first", List.of(tensor, normalize));
    all.put("other tensor", List.of(new RandomResizedCrop(24, 24), new Doubled()));
    all.put("by pixel", List.of(new RandomResizedCrop(24, 24), new ByPixel(), tensor));
    all.put("own random", List.of(new OwnRandom(), tensor, normalize));
    all.put("stateful", List.of(new Stateful(), tensor));
    all.put("whole sample", List.of(new RandomResizedCrop(24, 24), tensor, new Whitened()));
    all.put("third fails", List.of(new RandomResizedCrop(24, 24), new Failing(), tensor));
    all.put("ratio", List.of(new RandomResizedCrop(20, 20, .5, 1, .1, .4), tensor));
    all.put("lambda", List.of(array -> array, new RandomResizedCrop(24, 24), tensor));
    return all;
  }

  private static void loop(
      Path folder, NDManager manager, List<Transform> transforms, ExecutorService executor)
      throws IOException, TranslateException {
    ImageFolder pictures = pictures(folder, transforms);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
      Iterator<Batch> batches =
          executor == null
              ? pictures.getData(manager).iterator()
              : pictures.getData(manager, executor).iterator();
      while (batches.hasNext()) {
        try (Batch batch = batches.next()) {
          print(batch);
        } catch (IllegalArgumentException | IllegalStateException e) {
          System.out.println("failed: " + e.getMessage() + " " + RandomUtils.nextInt());
          if (executor != null) {
            return;
          }
        }
      }
      System.out.println("drawn " + RandomUtils.nextInt() + " " + RandomUtils.nextGaussian());
    }
  }

  private static ImageFolder pictures(Path folder, List<Transform> transforms)
      throws IOException, TranslateException {
    ImageFolder.Builder builder =
        ImageFolder.builder().setRepositoryPath(folder).optMaxDepth(2).setSampling(BATCH, true);
    transforms.forEach(builder::addTransform);
    ImageFolder pictures = builder.build();
    pictures.prepare();
    return pictures;
  }

  /** Changes the array of means given to Normalize during an epoch. */
  private static void changes(Path folder) throws IOException, TranslateException {
    System.out.println("changes");
    Engine.getInstance().setRandomSeed(2);
    float[] mean = MEAN.clone();
    List<Transform> transforms =
        List.of(new RandomResizedCrop(24, 24), new ToTensor(), new Normalize(mean, STD));
    ImageFolder pictures = pictures(folder, transforms);
    try (NDManager manager = NDManager.newBaseManager()) {
      for (Batch batch : pictures.getData(manager)) {
        print(batch);
        batch.close();
        mean[1] += .125f;
      }
    }
  }

  private static void print(Batch batch) {
    NDArray data = batch.getData().head();
    Checksum sum =
        new Checksum()
            .add(data.toByteBuffer(), "data")
            .add(batch.getLabels().head().toByteBuffer(), "labels");
    System.out.println(
        data.getShape() + " " + data.getDataType() + " " + batch.getIndices() + " " + sum);
  }

  /** Writes noisy pictures of various sizes, each with a plain part; all runs write the same. */
  private static void write(Path folder) throws IOException {
    Random random = new Random(3);
    for (int i = 0; i < PICTURES; i++) {
      int width = 40 + random.nextInt(120);
      int height = 40 + random.nextInt(90);
      BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
      for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
          image.setRGB(x, y, x < width / 3 ? i * 0x50301 : random.nextInt());
        }
      }
      Path file = folder.resolve("class" + i % 3).resolve(i + ".png");
      Files.createDirectories(file.getParent());
      ImageIO.write(image, "png", file.toFile());
    }
  }

  /** Creates tensors in a custom way. */
  private static final class Doubled extends ToTensor {
    @Override
    public NDArray transform(NDArray array) {
      return super.transform(array).mul(2);
    }
  }

  /** Draws a random number if the first pixel is bright. */
  private static final class ByPixel implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.getUint8(0, 0, 0) > 99 ? array.get(RandomUtils.nextInt(9) + ":24") : array;
    }
  }

  private static final class OwnRandom implements Transform {
    private final Random random = new Random(4);

    @Override
    public NDArray transform(NDArray array) {
      return new RandomResizedCrop(16 + 16 * random.nextInt(1), 32).transform(array);
    }
  }

  /** Crops each picture one pixel further to the right than the previous one; repeats after 16. */
  private static final class Stateful implements Transform {
    private int calls;

    @Override
    public NDArray transform(NDArray array) {
      int from = calls++ % 16;
      return array.get(":24," + from + ":" + (from + 24));
    }
  }

  private static final class Whitened implements Transform {
    @Override
    public NDArray transform(NDArray array) {
      return array.sub(array.mean());
    }
  }

  private static final class Failing implements Transform {
    private int calls;

    @Override
    public NDArray transform(NDArray array) {
      if (++calls % 20 == 3) {
        throw new IllegalStateException("the third");
      }
      return array;
    }
  }
}
