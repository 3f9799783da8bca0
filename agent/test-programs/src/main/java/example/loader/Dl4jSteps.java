package example.loader;

import java.io.File;
import java.io.IOException;
import java.util.Random;
import org.datavec.api.io.labels.ParentPathLabelGenerator;
import org.datavec.api.split.FileSplit;
import org.datavec.image.loader.NativeImageLoader;
import org.datavec.image.recordreader.ImageRecordReader;
import org.deeplearning4j.datasets.datavec.RecordReaderDataSetIterator;
import org.deeplearning4j.nn.api.Model;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.optimize.api.BaseTrainingListener;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;
import org.nd4j.linalg.dataset.api.preprocessor.ImagePreProcessingScaler;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.lossfunctions.LossFunctions.LossFunction;

/**
 * A DL4J job that trains on real pictures; DL4J's own prefetch thread prepares the batches. Prints
 * the lines of {@link SteadyEpochs}. Arguments: a folder with one folder of pictures per class;
 * epochs; side length of the network's input in pixels; number of filters in its convolutional
 * layer, which determines the step time; samples per batch.
 */
public final class Dl4jSteps {
  private static final int CHANNELS = 3;

  private Dl4jSteps() {}

  /** Trains according to the arguments. */
  public static void main(String[] args) throws IOException {
    int epochs = Integer.parseInt(args[1]);
    int size = Integer.parseInt(args[2]);
    int filters = Integer.parseInt(args[3]);
    Nd4j.getRandom().setSeed(1);
    ImageRecordReader reader =
        new ImageRecordReader(size, size, CHANNELS, new ParentPathLabelGenerator());
    FileSplit files =
        new FileSplit(new File(args[0]), NativeImageLoader.ALLOWED_FORMATS, new Random(1));
    reader.initialize(files);
    DataSetIterator pictures =
        new RecordReaderDataSetIterator(reader, Integer.parseInt(args[4]), 1, reader.numLabels());
    pictures.setPreProcessor(new ImagePreProcessingScaler(0, 1));
    MultiLayerNetwork network =
        new MultiLayerNetwork(
            new NeuralNetConfiguration.Builder()
                .seed(1)
                .updater(new Adam(1e-3))
                .list()
                .layer(
                    new ConvolutionLayer.Builder(5, 5)
                        .nIn(CHANNELS)
                        .nOut(filters)
                        .stride(4, 4)
                        .activation(Activation.RELU)
                        .build())
                .layer(
                    new OutputLayer.Builder(LossFunction.NEGATIVELOGLIKELIHOOD)
                        .nOut(reader.numLabels())
                        .activation(Activation.SOFTMAX)
                        .build())
                .setInputType(InputType.convolutional(size, size, CHANNELS))
                .build());
    network.init();
    SteadyEpochs lines = new SteadyEpochs(files.length());
    network.setListeners(
        new BaseTrainingListener() {
          @Override
          public void iterationDone(Model model, int iteration, int epoch) {
            lines.step(((MultiLayerNetwork) model).batchSize());
          }
        });
    for (int epoch = 0; epoch < epochs; epoch++) {
      network.fit(pictures);
      lines.endEpoch();
    }
  }
}
