package example.text;

import example.bits.ArrayBytes;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.deeplearning4j.iterator.BertIterator;
import org.deeplearning4j.iterator.CnnSentenceDataSetIterator;
import org.deeplearning4j.iterator.LabeledSentenceProvider;
import org.deeplearning4j.iterator.provider.FileLabeledSentenceProvider;
import org.deeplearning4j.models.embeddings.loader.WordVectorSerializer;
import org.deeplearning4j.text.tokenization.tokenizerfactory.BertWordPieceTokenizerFactory;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.dataset.api.DataSet;
import org.nd4j.linalg.dataset.api.MultiDataSet;
import org.nd4j.linalg.dataset.api.iterator.DataSetIterator;

/**
 * Iterates over files of one sentence each, as a program that trains a classifier does. Arguments:
 * {@code PROGRAM[,PROGRAM] FOLDER EPOCHS}; a program is {@code bert} (tokens for BERT) or {@code
 * vectors} (a matrix of word vectors per sentence). Missing data is written first. Prints a line
 * per array of each batch.
 */
public final class Sentences {
  private static final int BATCH = 8;
  private static final int FILES = 48;
  private static final int LENGTH = 24;
  private static final int WORDS = 60;
  private static final int SIZE = 16;
  private static final List<String> LABELS = List.of("bad", "good");

  private final Path folder;
  private final int epochs;

  private Sentences(Path folder, int epochs) {
    this.folder = folder;
    this.epochs = epochs;
  }

  /** Runs the program; the class description lists the arguments. */
  public static void main(String[] args) throws IOException {
    Sentences sentences = new Sentences(Path.of(args[1]), Integer.parseInt(args[2]));
    if (!Files.exists(sentences.vectors())) {
      sentences.write();
    }
    for (String program : args[0].split(",", -1)) {
      System.out.println("program " + program);
      switch (program) {
        case "bert" -> sentences.bert();
        case "vectors" -> sentences.matrices();
        default -> throw new IllegalArgumentException(program + " is not a program of this class.");
      }
    }
  }

  private Path vectors() {
    return folder.resolve("vectors.txt");
  }

  private Path vocabulary() {
    return folder.resolve("vocabulary.txt");
  }

  private void write() throws IOException {
    Random random = new Random(1);
    List<String> vocabulary = new ArrayList<>(List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]"));
    List<String> vectors = new ArrayList<>();
    for (int word = 0; word < WORDS; word++) {
      vocabulary.add("word" + word);
      StringBuilder vector = new StringBuilder("word" + word);
      for (int i = 0; i < SIZE; i++) {
        vector.append(' ').append(random.nextFloat());
      }
      vectors.add(vector.toString());
    }
    for (int i = 0; i < FILES; i++) {
      List<String> words = new ArrayList<>();
      for (int length = LENGTH / 2 + random.nextInt(LENGTH); length > 0; length--) {
        words.add("word" + random.nextInt(WORDS));
      }
      Path label =
          Files.createDirectories(folder.resolve("texts").resolve(LABELS.get(i % LABELS.size())));
      Files.writeString(label.resolve("text-" + i + ".txt"), String.join(" ", words));
    }
    Files.write(vocabulary(), vocabulary);
    Files.write(vectors(), vectors);
  }

  /** The library's provider, which reads a file for each sentence. */
  private LabeledSentenceProvider provider() {
    Map<String, List<File>> files = new TreeMap<>();
    for (String label : LABELS) {
      File[] found = folder.resolve("texts").resolve(label).toFile().listFiles();
      files.put(label, Arrays.stream(found).sorted().toList());
    }
    return new FileLabeledSentenceProvider(files, new Random(2));
  }

  private void bert() throws IOException {
    BertWordPieceTokenizerFactory tokenizer =
        new BertWordPieceTokenizerFactory(
            vocabulary().toFile(), true, true, StandardCharsets.UTF_8);
    BertIterator iterator =
        BertIterator.builder()
            .task(BertIterator.Task.SEQ_CLASSIFICATION)
            .tokenizer(tokenizer)
            .vocabMap(tokenizer.getVocab())
            .lengthHandling(BertIterator.LengthHandling.FIXED_LENGTH, LENGTH)
            .featureArrays(BertIterator.FeatureArrays.INDICES_MASK)
            .minibatchSize(BATCH)
            .sentenceProvider(provider())
            .build();
    for (int epoch = 0; epoch < epochs; epoch++) {
      while (iterator.hasNext()) {
        MultiDataSet batch = iterator.next();
        print("features", batch.getFeatures());
        print("labels", batch.getLabels());
        print("masks", batch.getFeaturesMaskArrays());
      }
      iterator.reset();
    }
  }

  private void matrices() {
    DataSetIterator iterator =
        new CnnSentenceDataSetIterator.Builder(CnnSentenceDataSetIterator.Format.CNN2D)
            .sentenceProvider(provider())
            .wordVectors(WordVectorSerializer.loadStaticModel(vectors().toFile()))
            .minibatchSize(BATCH)
            .maxSentenceLength(LENGTH)
            .build();
    for (int epoch = 0; epoch < epochs; epoch++) {
      while (iterator.hasNext()) {
        DataSet batch = iterator.next();
        print("features", batch.getFeatures());
        print("labels", batch.getLabels());
        print("masks", batch.getFeaturesMaskArray());
      }
      iterator.reset();
    }
  }

  private static void print(String name, INDArray... arrays) {
    for (INDArray array : arrays) {
      System.out.println(
          array == null
              ? name + " none"
              : String.format(
                  Locale.ROOT,
                  "%s %s %s %s",
                  name,
                  Arrays.toString(array.shape()),
                  array.dataType(),
                  ArrayBytes.checksum(array)));
    }
  }
}
