package io.coordl.partition.hosts;

import io.coordl.files.UserFile;
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
 * Who may be a peer: whoever proves a certificate that the key store trusts, in both directions, by
 * TLS 1.3. Names of hosts do not matter: the store is of this group of hosts, not of the world.
 */
public final class PeerTls {
  static final char[] NO_PASSWORD = {};

  private PeerTls() {}

  /**
   * The same, from a secret that all hosts have.
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
   * What makes sockets of TLS 1.3, from a PKCS12 key store: this host's private key, and the
   * certificates of those it trusts, this host's own among them. One store with one key may serve
   * all hosts.
   *
   * @param password of the store and of the key; may be overwritten afterwards
   * @throws IOException with a sentence for the user
   */
  public static SSLContext load(Path keystore, char[] password) throws IOException {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(new ByteArrayInputStream(UserFile.read(keystore)), password);
      if (!hasKey(store)) {
        throw new IOException(
            keystore + " has no private key: peers have to prove who they are with one.");
      }
      return context(store, password);
    } catch (NoSuchFileException e) {
      throw new IOException(keystore + " does not exist; a PKCS12 key store was expected.", e);
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

  /**
   * Whether a handshake failed because the other side disconnected, which does not tell who it was.
   */
  public static boolean isGone(SSLException e) {
    return e.getCause() instanceof IOException && !(e.getCause() instanceof SSLException);
  }

  /** TLS over a connected socket, after its handshake, in which both sides show a certificate. */
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
