package io.coordl.pipeline;

import io.coordl.bridge.ForkableRandom;
import io.coordl.bridge.InterceptedCall;
import io.coordl.coordination.BatchOrder;
import io.coordl.coordination.Fingerprint;
import io.coordl.coordination.PreparedBatch;
import io.coordl.purity.PurityAnalyzer;
import io.coordl.store.DecodedForm;
import io.coordl.store.DecodedItem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Adapts {@link PlainBatches} to the policies. Its overrides of {@code next}, {@code fetch} and
 * {@code load} stand for intercepted methods.
 */
final class PlainAdapter extends PlainBatches implements LibraryEpoch, LibraryBatches {
  private static final DecodedForm FORM = DecodedForm.of("plain");

  private final Services services;
  private final KeptItems kept;
  private final BatchPrefetcher prefetcher;
  private final CoordinatedEpoch epoch;
  private final BatchOrder samples;
  private int batch;

  PlainAdapter(
      List<Path> files, Transform transform, List<int[]> own, Services given, PurityAnalyzer code) {
    super(files, transform, own);
    services = given;
    samples = BatchOrder.of(own);
    kept = KeptItems.of(given);
    ForkableRandom none = new ForkableRandom();
    prefetcher =
        given.prefetcher() == null ? null : new BatchPrefetcher(given, code, none, "", b -> {});
    if (given.items() != null) {
      order = given.items().peek(order, 4, this::paths, kept.decoder(() -> FORM, this::load));
    } else if (prefetcher != null) {
      order = new PeekingIterator<>(order, 1, next -> {});
    }
    boolean jobs = given.group() != null;
    epoch = jobs ? new CoordinatedEpoch(new EpochCoordinator("Plain", given), this) : null;
  }

  private List<String> paths(int[] numbers) {
    return IntStream.of(numbers).mapToObj(i -> files.get(i).toString()).toList();
  }

  private static float[] around(InterceptedCall call, Supplier<float[]> own) {
    float[] made = call != null && call.replaced() ? null : own.get();
    return call == null ? made : (float[]) call.result(made);
  }

  @Override
  public float[] next() {
    InterceptedCall call =
        services.profile() == null
            ? null
            : new ProfiledBatches(services, this)
                .enter("", getClass(), "next", this, new Object[0]);
    return around(call, super::next);
  }

  @Override
  float[] fetch(int[] numbers) {
    if (epoch == null) {
      InterceptedCall call = prefetcher == null ? null : prefetcher.enter(this, numbers, 0);
      return around(call, () -> super.fetch(numbers));
    }
    int number = batch++;
    try {
      float[] staged = epoch.begin(this) ? epoch.stagedBatch(number, PlainBatches::of) : null;
      return around(epoch.call(0, staged), () -> super.fetch(epoch.samples(number)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  int load(String file) {
    DecodedItem item = kept == null ? null : kept.item(file);
    KeptArray found = item == null ? null : KeptItems.find(item, FORM);
    int sample = found == null ? super.load(file) : found.values().get(0);
    if (item != null && found == null) {
      ByteBuffer bytes = ByteBuffer.wrap(new byte[] {(byte) sample});
      KeptItems.keep(item, FORM, 1, () -> new KeptArray(1, 1, 1, bytes));
    }
    return sample;
  }

  @Override
  public long samples(Object of) {
    return ((float[]) of).length;
  }

  @Override
  public LibraryBatches.Bytes bytes(Object of) {
    return new LibraryBatches.Bytes(new Floats((float[]) of), PlainBatches::of);
  }

  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Floats(float[] values) implements PreparedBatch {
    @Override
    public long bytes() {
      return (long) Float.BYTES * values.length;
    }

    @Override
    public void writeTo(ByteBuffer target) {
      target.asFloatBuffer().put(values);
    }
  }

  @Override
  public Fingerprint fingerprint() {
    return new Fingerprint(Map.of("files", files.toString()));
  }

  @Override
  public BatchOrder order() {
    return samples;
  }

  @Override
  public PreparedBatch prepare(int number, int[] numbers) {
    return new Floats(super.fetch(numbers));
  }

  @Override
  public PeekingIterator<?> upcoming() {
    return (PeekingIterator<?>) order;
  }

  @Override
  public Object dataset() {
    return files;
  }

  @Override
  public Object settings() {
    return transform;
  }

  @Override
  public Object prefetch(Object settings, Object numbers, int position) {
    return super.fetch((int[]) numbers);
  }
}
