package io.coordl.peers.redis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A new key and its certificate, created with the JDK's keytool.
 *
 * @param certificate PEM
 * @param key PEM
 * @param context has the key, and trusts only the certificate
 */
public record TestKeys(Path certificate, Path key, SSLContext context) {
  public static final String PASSWORD = "changeit";

  /** Creates a PKCS12 key store with a new key, protected by {@link #PASSWORD}. */
  public static Path store(Path directory, String name) throws Exception {
    Path store = directory.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-alias",
                name,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=ip:127.0.0.1")
            .redirectErrorStream(true)
            .start();
    String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (keytool.waitFor() != 0) {
      throw new IOException("keytool: " + output);
    }
    return store;
  }

  public static TestKeys create(Path directory, String name) throws Exception {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store(directory, name))) {
      keys.load(in, PASSWORD.toCharArray());
    }
    Path certificate =
        pem(
            directory.resolve(name + ".crt"),
            "CERTIFICATE",
            keys.getCertificate(name).getEncoded());
    Path key =
        pem(
            directory.resolve(name + ".key"),
            "PRIVATE KEY",
            keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(name, keys.getCertificate(name));
    KeyManagerFactory mine = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    mine.init(keys, PASSWORD.toCharArray());
    TrustManagerFactory others =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    others.init(trusted);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(mine.getKeyManagers(), others.getTrustManagers(), null);
    return new TestKeys(certificate, key, context);
  }

  private static Path pem(Path file, String kind, byte[] bytes) throws IOException {
    return Files.writeString(
        file,
        "-----BEGIN "
            + kind
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes)
            + "\n-----END "
            + kind
            + "-----\n");
  }
}
