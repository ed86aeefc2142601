package io.fenceline.jdbc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.jdbc.JdbcStores;
import io.fenceline.settings.InvalidSettingException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A URL with an option of TLS does not speak in clear; nothing is sent before it is checked. */
class TlsOptionsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://db/x?user=a&password=c4n4ry&sslrootcert=ca.pem",
        "jdbc:postgresql://db/x?sslrootcert=ca.pem&sslmode=prefer&password=c4n4ry",
        "jdbc:postgresql://db/x?sslcert=a.pem&sslkey=a.key&sslmode=disable&ssl=true",
        "jdbc:postgresql://db/x?sslrootcert=ca.pem&SSLMODE=verify-full&password=c4n4ry",
        "jdbc:postgresql://db/x?SSLROOTCERT=ca.pem&Ssl=true&password=c4n4ry",
        "jdbc:mariadb://db/x?user=a&password=c4n4ry&serverSslCert=ca.pem",
        "jdbc:mariadb://db/x?sslMode=disable&keyStore=a.p12&password=c4n4ry",
        "jdbc:mysql://db/x?trustCertificateKeyStoreUrl=file:a&sslMode=PREFERRED"
      })
  void optionOfTls_isRefused_whereTlsIsNotInsistedOn(String url) {
    assertThatThrownBy(() -> JdbcStores.at(url))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContaining("has no effect unless TLS is required")
        .hasMessageMatching("(?is).*add sslmode=verify[-_](full|identity).*")
        .hasMessageNotContaining("c4n4ry");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://db/x?user=a&password=b",
        "jdbc:postgresql://db/x?sslmode=prefer",
        "jdbc:postgresql://db/x?sslrootcert=ca.pem&sslmode=verify-full",
        "jdbc:postgresql://db/x?sslrootcert=ca.pem&ssl=true",
        "jdbc:mariadb://db/x?serverSslCert=ca.pem&sslMode=verify-ca",
        "jdbc:mariadb://db/x?serverSslCert=ca.pem&SSLMODE=verify-ca",
        "jdbc:mysql://db/x?trustCertificateKeyStoreUrl=file:a&sslMode=VERIFY_IDENTITY"
      })
  void optionOfTls_isTaken_whereTlsIsInsistedOn(String url) {
    assertThat(JdbcStores.at(url)).isNotNull();
  }
}
