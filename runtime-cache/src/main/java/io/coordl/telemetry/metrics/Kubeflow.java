package io.coordl.telemetry.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.coordl.telemetry.event.JobStatisticsEvent;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import jdk.jfr.Event;
import org.jspecify.annotations.Nullable;

/**
 * Sends the status of a TrainJob to Kubeflow Trainer (its proposal 2779): progress, time left, the
 * share of time spent waiting for data, samples per second, and the epoch.
 */
final class Kubeflow implements MetricsExport.Push {
  private static final String URL = "KUBEFLOW_TRAINER_SERVER_URL";
  private static final String TOKEN = "KUBEFLOW_TRAINER_SERVER_TOKEN";
  private static final String CA = "KUBEFLOW_TRAINER_SERVER_CA_CERT";

  private final URI server;
  private final Path token;
  private final @Nullable Path ca;

  /** Throws IllegalArgumentException if the environment has no address or token. */
  Kubeflow(UnaryOperator<@Nullable String> environment) {
    String url = environment.apply(URL);
    String file = environment.apply(TOKEN);
    if (url == null || file == null) {
      throw new IllegalArgumentException(
          String.format(
              "the environment has no %s; is this a TrainJob with TrainJobStatus enabled?",
              url == null ? URL : TOKEN));
    }
    server = Post.address(url);
    token = Path.of(file);
    String caFile = environment.apply(CA);
    ca = caFile == null ? null : Path.of(caFile);
  }

  /** Reads token and certificate each time, because they are renewed while the job runs. */
  @Override
  public void push(List<Event> events) throws IOException {
    for (Event event : events) {
      if (event instanceof JobStatisticsEvent job) {
        String bearer = "Bearer " + Files.readString(token).strip();
        Map<String, String> headers =
            Map.of("Authorization", bearer, "Content-Type", "application/json");
        Post.send(server, json(job).getBytes(UTF_8), headers, socketFactory());
      }
    }
  }

  @Override
  public String where() {
    return server.toString();
  }

  private static String json(JobStatisticsEvent job) {
    String progress = "";
    boolean done = job.plannedEpochs > 0 && job.epochs >= job.plannedEpochs && job.timeLeft == 0;
    if (done || job.timeLeft > 0) {
      long total = job.wall + job.timeLeft;
      progress =
          String.format(
              Locale.ROOT,
              "\"progressPercentage\":%d,\"estimatedRemainingSeconds\":%d,",
              done ? 100 : Math.min(99, 100 * job.wall / total),
              (job.timeLeft + 999_999_999) / 1_000_000_000);
    }
    return String.format(
        Locale.ROOT,
        "{\"trainerStatus\":{%s\"metrics\":[{\"name\":\"data_stall_share\",\"value\":\"%.4f\"},"
            + "{\"name\":\"samples_per_second\",\"value\":\"%.1f\"},"
            + "{\"name\":\"epoch\",\"value\":\"%d\"}],\"lastUpdatedTime\":\"%s\"}}",
        progress,
        job.share(job.stall),
        job.samplesPerSecond(),
        job.epochs,
        Instant.now().truncatedTo(ChronoUnit.SECONDS));
  }

  private @Nullable SSLSocketFactory socketFactory() throws IOException {
    if (ca == null) {
      return null;
    }
    try (InputStream in = Files.newInputStream(ca)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("ca" + store.size(), each);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException e) {
      throw new IOException(ca + " is not a usable certificate (" + e.getMessage() + ")", e);
    }
  }
}
