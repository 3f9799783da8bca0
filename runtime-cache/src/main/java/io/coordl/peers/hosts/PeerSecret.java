package io.coordl.peers.hosts;

import io.coordl.host.UserFile;
import io.coordl.telemetry.live.Owner;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * A secret in a file on every host; a host with the secret is a peer. The secret determines an
 * Ed25519 key and a self-signed certificate, bit-identical on every host, and each host trusts that
 * certificate alone. TLS 1.3 does the rest: each side signs the handshake, so no attacker can
 * replay or relay it, and every later record is encrypted and authenticated with the connection's
 * keys.
 *
 * <p>Anyone who can connect sees the certificate and could try secrets until one yields its key.
 * That is infeasible for a random secret of at least {@link #MIN_LENGTH} characters.
 */
public final class PeerSecret {
  /** Minimum length of a secret; even half that length of random base64 has 96 bits. */
  static final int MIN_LENGTH = 32;

  /** Minimum number of distinct characters; nearly every random secret has more. */
  static final int MIN_DISTINCT = 10;

  private static final int MAX_LENGTH = 4096;
  private static final String EXPECTED =
      "expected a file with mode 0600 that all hosts have, with at least "
          + MIN_LENGTH
          + " random characters, such as the output of openssl rand -base64 32.";
  private static final String DERIVATION = "CoorDL peers: Ed25519 key, 1";

  private static final Set<PosixFilePermission> OWNERS =
      PosixFilePermissions.fromString("rwx------");
  private static final String ALIAS = "peers";

  private PeerSecret() {}

  /**
   * Derives the key store, which has no password and is the same on all hosts with this secret.
   *
   * @throws IOException with a sentence for the user
   */
  public static KeyStore load(Path file) throws IOException {
    byte[] secret = read(file);
    try {
      return keys(secret);
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "This JVM cannot derive keys from peer.secret ("
              + e
              + "): expected the JDK's Ed25519, which is in module jdk.crypto.ec before JDK 22.",
          e);
    } finally {
      Arrays.fill(secret, (byte) 0);
    }
  }

  // ---- the file

  private static byte[] read(Path file) throws IOException {
    FileIdentity before = check(file);
    byte[] all;
    try {
      all = UserFile.call(() -> readLimited(file));
    } catch (IOException e) {
      throw refused(file, "cannot be read (" + e + ")", e);
    }
    if (!check(file).equals(before)) {
      throw refused(file, "was replaced while being read", null);
    }
    // Editors end a file with a line break; other tools may not.
    byte[] secret =
        new String(all, StandardCharsets.ISO_8859_1).strip().getBytes(StandardCharsets.ISO_8859_1);
    Arrays.fill(all, (byte) 0);
    long distinct = new String(secret, StandardCharsets.ISO_8859_1).chars().distinct().count();
    if (secret.length < MIN_LENGTH || secret.length > MAX_LENGTH) {
      throw refused(
          file,
          secret.length > MAX_LENGTH
              ? "has more than " + MAX_LENGTH + " characters"
              : "has " + secret.length + " characters",
          null);
    }
    if (distinct < MIN_DISTINCT) {
      throw refused(
          file,
          "has only " + distinct + (distinct == 1 ? " distinct character" : " distinct characters"),
          null);
    }
    return secret;
  }

  private static byte[] readLimited(Path file) throws IOException {
    try (InputStream in =
        Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      return in.readNBytes(MAX_LENGTH + 1);
    }
  }

  private record FileIdentity(@Nullable Object identity, long size) {}

  /** Checks that no other user can read or change the file; opens nothing, not even a FIFO. */
  private static FileIdentity check(Path file) throws IOException {
    PosixFileAttributes attributes;
    long owner;
    try {
      attributes =
          UserFile.call(
              () ->
                  Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS));
      owner = Owner.of(file);
    } catch (NoSuchFileException e) {
      throw refused(file, "does not exist", e);
    } catch (IOException | UnsupportedOperationException e) {
      throw refused(file, "cannot be read (" + e + ")", e);
    }
    if (attributes.isSymbolicLink()) {
      throw refused(file, "is a link, which is not followed", null);
    }
    if (!attributes.isRegularFile()) {
      throw refused(file, "is not a regular file", null);
    }
    if (owner != Owner.user()) {
      throw refused(file, "belongs to another user (" + owner + ")", null);
    }
    if (!OWNERS.containsAll(attributes.permissions())) {
      Object mode = Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      throw refused(
          file,
          String.format("has mode %04o, which lets others read or change it", (int) mode & 0777),
          null);
    }
    return new FileIdentity(attributes.fileKey(), attributes.size());
  }

  private static IOException refused(Path file, String why, @Nullable Exception cause) {
    return new IOException("peer.secret=" + file + " " + why + ": " + EXPECTED, cause);
  }

  // ---- the key

  private static KeyStore keys(byte[] secret) throws GeneralSecurityException, IOException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret, "HmacSHA256"));
    byte[] seed = mac.doFinal(DERIVATION.getBytes(StandardCharsets.US_ASCII));
    KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519", "SunEC");
    generator.initialize(NamedParameterSpec.ED25519, new Seed(seed));
    KeyPair pair = generator.generateKeyPair();
    byte[] key = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
    if (!Arrays.equals(key, seed)) {
      throw new GeneralSecurityException("its keys differ from those of RFC 8032");
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry(
        ALIAS, pair.getPrivate(), PeerTls.NO_PASSWORD, new Certificate[] {certificate(pair)});
    return store;
  }

  /** A random source that returns the seed: in RFC 8032, the private key is 32 random bytes. */
  private static final class Seed extends SecureRandom {
    private static final long serialVersionUID = 1;
    private final transient byte[] seed;

    Seed(byte[] seed) {
      this.seed = seed;
    }

    @Override
    public void nextBytes(byte[] target) {
      System.arraycopy(Objects.requireNonNull(seed), 0, target, 0, target.length);
    }
  }

  // ---- the certificate: X.509 version 1, in DER

  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;
  private static final int INTEGER = 0x02;
  private static final int BITS = 0x03;
  private static final int OBJECT = 0x06;
  private static final int TEXT = 0x0c;
  private static final int SHORT_TIME = 0x17;
  private static final int LONG_TIME = 0x18;
  private static final byte[] ED25519 = {43, 101, 112}; // 1.3.101.112
  private static final byte[] COMMON_NAME = {85, 4, 3}; // 2.5.4.3

  /** Creates a certificate that is valid at any time: only the secret matters. */
  private static Certificate certificate(KeyPair pair) throws GeneralSecurityException {
    byte[] algorithm = der(SEQUENCE, der(OBJECT, ED25519));
    byte[] name =
        der(
            SEQUENCE,
            der(SET, der(SEQUENCE, der(OBJECT, COMMON_NAME), der(TEXT, ascii("coordl")))));
    byte[] signed =
        der(
            SEQUENCE,
            der(INTEGER, new byte[] {1}),
            algorithm,
            name,
            der(
                SEQUENCE,
                der(SHORT_TIME, ascii("700101000000Z")),
                der(LONG_TIME, ascii("99991231235959Z"))),
            name,
            pair.getPublic().getEncoded());
    Signature signature = Signature.getInstance("Ed25519", "SunEC");
    signature.initSign(pair.getPrivate());
    signature.update(signed);
    byte[] certificate =
        der(SEQUENCE, signed, algorithm, der(BITS, new byte[] {0}, signature.sign()));
    return CertificateFactory.getInstance("X.509")
        .generateCertificate(new ByteArrayInputStream(certificate));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** Encodes a DER value: tag, length, and the concatenated parts. */
  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    int length = content.size();
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    value.write(tag);
    if (length > 0xff) {
      value.write(0x82);
      value.write(length >> 8);
    } else if (length > 0x7f) {
      value.write(0x81);
    }
    value.write(length);
    value.writeBytes(content.toByteArray());
    return value.toByteArray();
  }
}
