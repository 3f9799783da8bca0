package io.coordl.telemetry.metrics;

import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** Sends a request to a server, using only the base module of the JDK; starts no thread. */
final class Post {
  private static final int PATIENCE_MILLIS = (int) Duration.ofSeconds(10).toMillis();

  private Post() {}

  /** Parses an address; throws IllegalArgumentException if it is invalid. */
  static URI address(String text) {
    URI address = URI.create(text);
    if (!String.valueOf(address.getScheme()).matches("https?") || address.getHost() == null) {
      throw new IllegalArgumentException(text + " is not an http:// or https:// address");
    }
    return address;
  }

  /**
   * Sends the request, and throws unless the server accepts it.
   *
   * @param trusting null to use the JDK's trusted certificates
   */
  static void send(
      URI to, byte[] body, Map<String, String> headers, @Nullable SSLSocketFactory trusting)
      throws IOException {
    HttpURLConnection connection = (HttpURLConnection) to.toURL().openConnection();
    try {
      if (trusting != null && connection instanceof HttpsURLConnection tls) {
        tls.setSSLSocketFactory(trusting);
      }
      connection.setConnectTimeout(PATIENCE_MILLIS);
      connection.setReadTimeout(PATIENCE_MILLIS);
      connection.setInstanceFollowRedirects(false);
      connection.setUseCaches(false);
      connection.setDoOutput(true);
      try {
        headers.forEach(connection::setRequestProperty);
      } catch (IllegalArgumentException e) { // Its message contains the value, which may be secret.
        throw new IOException("a header contains characters that are not allowed");
      }
      connection.setFixedLengthStreamingMode(body.length);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body);
      }
      int status = connection.getResponseCode();
      if (status / 100 != 2) {
        throw new IOException("it answered " + status);
      }
    } finally {
      connection.disconnect();
    }
  }
}
