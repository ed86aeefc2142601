package io.fenceline.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fenceline.FencingToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever could not read the file before can't read it afterwards. */
class FencedFilePermissionsTest {
  @TempDir Path folder;

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void aReplacedFile_keepsItsMode_andItsUnfinishedCopyIsNotWider() throws Exception {
    long token = 1;
    for (String mode : List.of("rw-------", "r--------", "rw-r-----", "rwxr-xr-x", "rw-rw-rw-")) {
      Path file = Files.writeString(folder.resolve("file-" + token), "before");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
      List<String> unfinished = new ArrayList<>();
      FencedFile.at(file)
          .replace(
              out -> {
                out.write('x');
                try (Stream<Path> all = Files.walk(folder)) {
                  for (Path each : all.filter(f -> f.toString().endsWith(".new")).toList()) {
                    unfinished.add(mode(each));
                  }
                }
              },
              FencingToken.exclusive(token++ << 8));

      assertThat(mode(file)).isEqualTo(mode);
      assertThat(unfinished).containsExactly("rw-------");
    }
  }

  @Test
  void aReplacedFile_keepsItsOwner_whereThatIsPossible() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "before");
    boolean isRoot = Integer.valueOf(0).equals(Files.getAttribute(file, "unix:uid"));
    if (isRoot) {
      Files.setAttribute(file, "unix:uid", 65_534);
      Files.setAttribute(file, "unix:gid", 65_534);
    }
    Map<String, Object> before = Files.readAttributes(file, "unix:uid,gid");
    FencedFile.at(file).replace("after".getBytes(), FencingToken.exclusive(256));

    assertThat(Files.readAttributes(file, "unix:uid,gid")).isEqualTo(before);
    assertThat(file).hasContent("after");
  }

  @Test
  void aNewFile_hasTheUsualMode() throws Exception {
    Path usual = Files.writeString(folder.resolve("usual"), "");
    Path file = folder.resolve("file");
    FencedFile.at(file).replace("new".getBytes(), FencingToken.exclusive(256));
    assertThat(mode(file)).isEqualTo(mode(usual));
  }

  private void chmod(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void marks_areOnlyForThoseWhoMayWrite_sinceReadersCouldLockThem() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "before");
    Path beside = folder.resolve(".file.fence");
    Path marks = beside.resolve("marks");
    chmod(folder, "rwxr-xr-x");
    FencedFile.at(file).replace("after".getBytes(), FencingToken.exclusive(256));
    assertThat(mode(beside)).isEqualTo("rwx------");
    assertThat(mode(marks)).isEqualTo("rw-------");

    chmod(beside, "rwxr-xr-x"); // As they were made before.
    chmod(marks, "rw-r--r--");
    FencedFile.at(file).check(FencingToken.shared(512));
    assertThat(mode(beside)).isEqualTo("rwx------");
    assertThat(mode(marks)).isEqualTo("rw-------");
  }

  @Test
  void marks_areForTheGroup_whereTheGroupMayReplaceTheFile() throws Exception {
    Path file = folder.resolve("file");
    chmod(folder, "rwxrwxr-x");
    FencedFile.at(file).replace("new".getBytes(), FencingToken.exclusive(256));
    assertThat(mode(folder.resolve(".file.fence"))).isEqualTo("rwxrwx---");
    assertThat(mode(folder.resolve(".file.fence/marks"))).isEqualTo("rw-rw----");
  }

  @Test
  void aLinkInThePlaceOfTheFolderOfMarks_isRefused_andWhatItLeadsToIsLeftAlone() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "before");
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    chmod(elsewhere, "rwxr-xr-x");
    Files.createSymbolicLink(folder.resolve(".file.fence"), elsewhere);
    FencedFile fenced = FencedFile.at(file);

    assertThatThrownBy(() -> fenced.replace("after".getBytes(), FencingToken.exclusive(256)))
        .hasRootCauseMessage(folder.resolve(".file.fence") + " is a link or a file, not a folder")
        .isInstanceOf(UncheckedIOException.class);
    assertThatThrownBy(() -> fenced.check(FencingToken.shared(256)))
        .isInstanceOf(UncheckedIOException.class);

    assertThat(mode(elsewhere)).isEqualTo("rwxr-xr-x");
    assertThat(elsewhere).isEmptyDirectory();
    assertThat(file).hasContent("before");
  }

  /** As in /tmp, where everybody may put a folder, and nobody may remove that of another. */
  @Test
  void inAFolderForAll_marksOfAnotherUserAreRefused() throws Exception {
    Files.setAttribute(folder, "unix:mode", 01777);
    Path file = Files.writeString(folder.resolve("file"), "before");
    Path planted = Files.createDirectory(folder.resolve(".file.fence"));
    FencedFile fenced = FencedFile.at(file);
    fenced.replace("own".getBytes(), FencingToken.exclusive(256));
    assertThat(file).hasContent("own");
    boolean isRoot = Integer.valueOf(0).equals(Files.getAttribute(file, "unix:uid"));
    if (isRoot) { // Only root can give a folder away.
      Files.setAttribute(planted, "unix:uid", 65_534);

      assertThatThrownBy(() -> fenced.replace("after".getBytes(), FencingToken.exclusive(512)))
          .isInstanceOf(UncheckedIOException.class)
          .rootCause()
          .hasMessageContaining("belongs to another user");
      assertThat(file).hasContent("own");
    }
  }
}
