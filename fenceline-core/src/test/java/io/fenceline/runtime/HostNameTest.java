package io.fenceline.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostNameTest {
  @TempDir Path folder;

  @Test
  void theNameInTheFile_counts() throws Exception {
    assertThat(HostName.of(Files.writeString(folder.resolve("hostname"), "web-7\n")))
        .isEqualTo("web-7");
  }

  @Test
  void withoutAFile_orWithAnEmptyOne_itIsTheNameThatJavaFinds() throws Exception {
    String found;
    try {
      found = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      found = "unknown-host"; // As in a container without an entry for itself.
    }
    assertThat(HostName.of(folder.resolve("none"))).isEqualTo(found);
    assertThat(HostName.of(Files.createFile(folder.resolve("empty")))).isEqualTo(found);
  }
}
