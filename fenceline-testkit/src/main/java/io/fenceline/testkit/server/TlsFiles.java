package io.fenceline.testkit.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
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

  static TlsFiles create(Path folder) {
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

  /** A context for clients that trusts this authority and nobody else. */
  public SSLContext clientContext() {
    try (InputStream pem = Files.newInputStream(caCertificate)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      trusted.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
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
