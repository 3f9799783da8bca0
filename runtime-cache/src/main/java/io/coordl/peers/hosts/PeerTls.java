package io.coordl.peers.hosts;

import io.coordl.host.UserFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.UnrecoverableKeyException;
import java.util.Collections;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * Mutual authentication of peers by TLS 1.3: each side must present a certificate that the key
 * store trusts. Host names are not checked, because the key store belongs to this group of hosts.
 */
public final class PeerTls {
  static final char[] NO_PASSWORD = {};

  private PeerTls() {}

  /**
   * Creates the TLS context from a secret that all hosts share.
   *
   * @throws IOException with a sentence for the user
   */
  public static SSLContext ofSecret(Path file) throws IOException {
    KeyStore store = PeerSecret.load(file);
    try {
      return context(store, NO_PASSWORD);
    } catch (GeneralSecurityException e) {
      throw new IOException("The key of peer.secret cannot be used (" + e + ").", e);
    }
  }

  /**
   * Creates the TLS 1.3 context from a PKCS12 key store with this host's private key and the
   * trusted certificates, including its own. All hosts may share one store with one key.
   *
   * @param password password of the store and of the key; may be overwritten afterwards
   * @throws IOException with a sentence for the user
   */
  public static SSLContext load(Path keystore, char[] password) throws IOException {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(new ByteArrayInputStream(UserFile.read(keystore)), password);
      if (!hasKey(store)) {
        throw new IOException(keystore + " has no private key; peers need one to authenticate.");
      }
      return context(store, password);
    } catch (NoSuchFileException e) {
      throw new IOException(keystore + " does not exist; expected a PKCS12 key store.", e);
    } catch (UnrecoverableKeyException e) {
      throw new IOException("The password does not open the private key in " + keystore + ".", e);
    } catch (GeneralSecurityException e) {
      throw new IOException(keystore + " cannot be used as a key store (" + e + ").", e);
    } catch (IOException e) {
      throw e.getCause() instanceof UnrecoverableKeyException
          ? new IOException("The password does not open " + keystore + ".", e)
          : e.getMessage() != null && e.getMessage().startsWith(keystore.toString())
              ? e
              : new IOException(keystore + " cannot be read as a PKCS12 key store (" + e + ").", e);
    }
  }

  private static SSLContext context(KeyStore store, char[] password)
      throws GeneralSecurityException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password);
    TrustManagerFactory trusted =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trusted.init(store);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
    return context;
  }

  private static boolean hasKey(KeyStore store) throws GeneralSecurityException {
    for (String alias : Collections.list(store.aliases())) {
      if (store.isKeyEntry(alias)) {
        return true;
      }
    }
    return false;
  }

  /** Whether a handshake failed only because the other side disconnected. */
  public static boolean isGone(SSLException e) {
    return e.getCause() instanceof IOException && !(e.getCause() instanceof SSLException);
  }

  /** Performs the TLS handshake over a connected socket; both sides present a certificate. */
  public static SSLSocket over(SSLContext context, Socket plain, boolean asClient)
      throws IOException {
    String host = plain.getInetAddress().getHostAddress();
    SSLSocket secured =
        (SSLSocket) context.getSocketFactory().createSocket(plain, host, plain.getPort(), true);
    secured.setEnabledProtocols(new String[] {"TLSv1.3"});
    secured.setUseClientMode(asClient);
    if (!asClient) {
      secured.setNeedClientAuth(true);
    }
    secured.startHandshake();
    return secured;
  }
}
