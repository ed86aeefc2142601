package io.fenceline.testbed.server;

import io.fenceline.testbed.process.Debian;
import io.fenceline.testbed.process.HarnessException;
import io.fenceline.testbed.process.Tool;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * An authority of our own, and a certificate for 127.0.0.1 and localhost that it signed.
 *
 * <p>All in PEM; keys in PKCS #8, which Java reads, too.
 *
 * @param caCertificate whom a client has to trust
 * @param certificate the server's, good for a client as well
 * @param key the key of {@code certificate}
 */
public record TlsFiles(Path caCertificate, Path certificate, Path key) {

  /** Makes them in this folder. */
  public static TlsFiles create(Path folder) {
    Path caKey = folder.resolve("ca.key");
    TlsFiles files =
        new TlsFiles(
            folder.resolve("ca.crt"), folder.resolve("server.crt"), folder.resolve("server.key"));
    request(files.caCertificate, caKey, "Fenceline test authority", List.of());
    request(
        files.certificate,
        files.key,
        "localhost",
        List.of(
            "-CA",
            files.caCertificate.toString(),
            "-CAkey",
            caKey.toString(),
            "-addext",
            "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-addext",
            "basicConstraints=CA:FALSE"));
    return files;
  }

  private static void request(Path certificate, Path key, String name, List<String> more) {
    List<String> command = new ArrayList<>();
    command.add(Debian.program("openssl", "openssl"));
    command.addAll(List.of("req", "-x509", "-newkey", "ec", "-pkeyopt"));
    command.addAll(List.of("ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"));
    command.addAll(List.of("-subj", "/CN=" + name));
    command.addAll(List.of("-keyout", key.toString(), "-out", certificate.toString()));
    command.addAll(more);
    Tool.run(command.toArray(String[]::new));
  }

  /** Writes the certificate and its key to a PKCS #12 file, which it returns. */
  public Path keyStore(Path file, String password) {
    return write(
        file,
        password,
        store -> {
          char[] secret = password.toCharArray();
          store.setKeyEntry("key", privateKey(), secret, new Certificate[] {read(certificate)});
        });
  }

  /** Writes the authority that a client has to trust to a PKCS #12 file, which it returns. */
  public Path trustStore(Path file, String password) {
    return write(file, password, store -> store.setCertificateEntry("ca", read(caCertificate)));
  }

  private interface Content {
    void addTo(KeyStore store) throws IOException, GeneralSecurityException;
  }

  private static Path write(Path file, String password, Content content) {
    try (OutputStream out = Files.newOutputStream(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      content.addTo(store);
      store.store(out, password.toCharArray());
      return file;
    } catch (IOException | GeneralSecurityException e) {
      throw new HarnessException("Could not write " + file, e);
    }
  }

  private PrivateKey privateKey() throws IOException, GeneralSecurityException {
    String pem = Files.readString(key).replaceAll("-----[A-Z ]+-----", "");
    byte[] encoded = Base64.getMimeDecoder().decode(pem);
    return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(encoded));
  }

  private static Certificate read(Path pem) throws IOException, GeneralSecurityException {
    try (InputStream in = Files.newInputStream(pem)) {
      return CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  /** A context for clients that trusts this authority and nobody else. */
  public SSLContext clientContext() {
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      trusted.setCertificateEntry("ca", read(caCertificate));
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new HarnessException("Could not read " + caCertificate, e);
    }
  }
}
