package io.fenceline.fence;

import io.fenceline.FencingToken;
import io.fenceline.StaleTokenException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * A file of one machine that is replaced as a whole, by whoever has the newest token.
 *
 * <pre>{@code
 * FencedFile prices = FencedFile.at(Path.of("/var/lib/shop/prices.json"));
 * prices.replace("{}".getBytes(), hold.fencingToken());
 * }</pre>
 *
 * <p>The new content is written aside and flushed to the disk. Then, under a lock that all
 * processes of the machine respect, the token is checked and remembered and the file is put into
 * place. Readers see the old file or the new one, never a part. When {@code replace} returns, the
 * new file survives a power failure.
 *
 * <p>Beside the file {@code prices.json} there is a folder {@code .prices.json.fence} with the
 * marks, of some hundred bytes, and with what is being written. What an ended process has left
 * there goes with the next accepted write of a larger exclusive token.
 *
 * <p>A user who can read the marks can also lock them, and so make writers wait. Only the owner can
 * therefore access that folder, and, if a group may write to the folder of the file, that group.
 * The new file has the mode of the old one, and its owner and group where that is allowed. Access
 * control lists are not kept, since Java can't read them: where a file has one, the bits of its
 * group are the mask of the list, and the group has these rights afterwards. A folder of marks that
 * another user has made in a folder such as {@code /tmp}, or a link in its place, is refused.
 *
 * <p>For one machine: a network file system may not respect the lock. If a process is stopped
 * during the short step under the lock, other writers wait until it resumes or ends; their data
 * stays correct. Thread-safe.
 */
public final class FencedFile {
  /*
   * The mark is on the disk before the file is in place. A crash between the two leaves the old
   * file and a mark that refuses everyone older than the writer that crashed; the writer itself, or
   * a later one, may write again. The other order could lose the mark of a write that is there.
   */
  private static final String UNFINISHED = ".new";
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");
  private static final Set<PosixFilePermission> FOLDER_OF_OWNER =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FOLDER_OF_GROUP =
      PosixFilePermissions.fromString("rwxrwx---");
  private static final Set<PosixFilePermission> FILE_OF_GROUP =
      PosixFilePermissions.fromString("rw-rw----");
  private static final Set<PosixFilePermission> OF_THE_GROUP =
      PosixFilePermissions.fromString("---rwx---");

  private static final int STICKY = 01000;
  private static final Integer ROOT = 0;

  /** Says who we are, where there is such a thing. */
  private static final Path SELF = Path.of("/proc/self");

  private final Path file;
  private final Path folder;
  private final FenceNotices notices;

  /** Marks that are known to be on the disk. */
  private volatile FenceMarks flushed = FenceMarks.NONE;

  private FencedFile(Path file, FenceNotices notices) {
    this.file = file;
    this.folder = file.resolveSibling("." + file.getFileName() + ".fence");
    this.notices = notices;
  }

  /** Returns the file at a path, which need not exist; its folder must. */
  public static FencedFile at(Path file) {
    Path absolute = file.toAbsolutePath().normalize();
    Path parent = Objects.requireNonNull(absolute.getParent(), "a file, not the root");
    Path real;
    try {
      // One file by two names, through a link to its folder, must have one fence.
      real = parent.toRealPath().resolve(absolute.getFileName());
      real = Files.exists(real) ? real.toRealPath() : real;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new FencedFile(real, FenceNotices.of("file"));
  }

  /** Returns a copy with a listener for accepted and refused tokens. */
  public FencedFile listener(FenceListener listener) {
    return new FencedFile(file, notices.with(listener));
  }

  /** Writes the content of a file. */
  @FunctionalInterface
  public interface Content {

    /** Writes everything; the stream is closed by the caller. */
    void writeTo(OutputStream out) throws IOException;
  }

  /** Returns the path of the file. */
  public Path path() {
    return file;
  }

  /**
   * Replaces the file.
   *
   * @throws StaleTokenException if a larger token has passed before; the file is untouched
   * @throws UncheckedIOException if the disk fails; the file is the old one or the new one
   */
  public void replace(byte[] content, FencingToken token) {
    replace(out -> out.write(content), token);
  }

  /**
   * Replaces the file by what is written to a stream.
   *
   * @throws StaleTokenException if a larger token has passed before; the file is untouched
   * @throws UncheckedIOException if the disk fails; the file is the old one or the new one
   */
  public void replace(Content content, FencingToken token) {
    Objects.requireNonNull(token, "token");
    FenceMarks before;
    try {
      createFolder();
      Path aside = folder.resolve(asideName(token));
      try {
        write(aside, content);
        before = putInPlace(aside, token);
      } finally {
        Files.deleteIfExists(aside);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Replacing " + file + " failed", e);
    }
    tell(before, token);
  }

  /** Puts the new file in place, unless its token was overtaken; returns the marks before. */
  private FenceMarks putInPlace(Path aside, FencingToken token) throws IOException {
    synchronized (FileMarks.ofThisProcess(folder.resolve("marks"))) {
      try (FileMarks marks = lockMarks()) {
        FenceMarks before = marks.read();
        if (before.admits(token)) {
          remember(marks, before, token);
          keepAccess(aside);
          Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
          FileMarks.flush(Objects.requireNonNull(file.getParent()));
          forgetOvertaken(before.after(token));
        }
        return before;
      }
    }
  }

  /**
   * Checks a token and remembers it, without a write. After a reader has done so with a shared
   * token, no older writer can replace the file.
   *
   * @throws StaleTokenException if the token was overtaken
   */
  public void check(FencingToken token) {
    Objects.requireNonNull(token, "token");
    FenceMarks before;
    try {
      createFolder();
      synchronized (FileMarks.ofThisProcess(folder.resolve("marks"))) {
        try (FileMarks marks = lockMarks()) {
          before = marks.read();
          if (before.admits(token)) {
            remember(marks, before, token);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Checking a token for " + file + " failed", e);
    }
    tell(before, token);
  }

  private void createFolder() throws IOException {
    Path parent = Objects.requireNonNull(file.getParent());
    if (!isPosix(parent)) {
      Files.createDirectories(folder);
      return;
    }
    if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      try {
        Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(FOLDER_OF_OWNER));
      } catch (FileAlreadyExistsException e) {
        // Another writer was faster.
      }
    }
    checkNotPlanted(parent);
    keepToWriters(folder, FOLDER_OF_OWNER, FOLDER_OF_GROUP);
  }

  /**
   * Whoever has the folder of the marks can change them, and what is put into place. In a folder
   * such as /tmp everybody can make one before us; and a link would have us change the mode of what
   * it leads to.
   */
  private void checkNotPlanted(Path parent) throws IOException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(folder + " is a link or a file, not a folder");
    }
    boolean isSticky = ((Integer) Files.getAttribute(parent, "unix:mode") & STICKY) != 0;
    if (!isSticky || !Files.exists(SELF)) {
      return;
    }
    Set<Object> trusted =
        Set.copyOf(
            List.of(
                ROOT,
                Files.getAttribute(SELF, "unix:uid"),
                Files.getAttribute(parent, "unix:uid")));
    if (!trusted.contains(Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
      throw new IOException(
          folder + " belongs to another user, who could change what it protects; remove it");
    }
  }

  private FileMarks lockMarks() throws IOException {
    Path marks = folder.resolve("marks");
    if (!isPosix(folder)) {
      return FileMarks.lock(marks);
    }
    FileMarks locked = FileMarks.lock(marks, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    try {
      keepToWriters(marks, OWNER_ONLY, FILE_OF_GROUP);
      return locked;
    } catch (IOException | RuntimeException e) {
      locked.close();
      throw e;
    }
  }

  /** Also what was made by others before, as far as this is ours to change. */
  private void keepToWriters(
      Path path, Set<PosixFilePermission> ofOwner, Set<PosixFilePermission> ofGroup)
      throws IOException {
    PosixFileAttributes parent =
        Files.readAttributes(Objects.requireNonNull(file.getParent()), PosixFileAttributes.class);
    PosixFileAttributeView view =
        Objects.requireNonNull(Files.getFileAttributeView(path, PosixFileAttributeView.class));
    PosixFileAttributes now = view.readAttributes();
    boolean isShared =
        parent.permissions().contains(PosixFilePermission.GROUP_WRITE)
            || now.permissions().contains(PosixFilePermission.GROUP_WRITE);
    Set<PosixFilePermission> wanted = isShared ? ofGroup : ofOwner;
    if (now.permissions().equals(wanted)) {
      return;
    }
    try {
      if (isShared && !now.permissions().contains(PosixFilePermission.GROUP_WRITE)) {
        view.setGroup(parent.group());
      }
      view.setPermissions(wanted);
    } catch (IOException e) {
      // It belongs to another writer.
    }
  }

  private void remember(FileMarks marks, FenceMarks before, FencingToken token) throws IOException {
    FenceMarks after = before.after(token);
    if (!after.equals(before)) {
      marks.write(after);
    } else if (!after.equals(flushed)) {
      // Whoever wrote them may have been killed before they were on the disk.
      marks.flush();
    }
    flushed = after;
  }

  private void tell(FenceMarks before, FencingToken token) {
    if (!before.admits(token)) {
      throw notices.refused(file.toString(), token, before.markFor(token));
    }
    notices.accepted(file.toString(), token);
  }

  private static boolean isPosix(Path path) {
    return Files.getFileAttributeView(path, PosixFileAttributeView.class) != null;
  }

  /** The new file has the mode of the old one, and its owner and group where that is allowed. */
  private void keepAccess(Path aside) throws IOException {
    if (!isPosix(aside) || !Files.exists(file)) {
      return;
    }
    PosixFileAttributes old = Files.readAttributes(file, PosixFileAttributes.class);
    PosixFileAttributeView view =
        Objects.requireNonNull(Files.getFileAttributeView(aside, PosixFileAttributeView.class));
    Set<PosixFilePermission> mode = EnumSet.noneOf(PosixFilePermission.class);
    mode.addAll(old.permissions());
    if (!view.readAttributes().group().equals(old.group())) {
      try {
        view.setGroup(old.group());
      } catch (IOException e) {
        mode.removeAll(OF_THE_GROUP); // They were meant for another group.
      }
    }
    if (!view.readAttributes().owner().equals(old.owner())) {
      try {
        view.setOwner(old.owner());
      } catch (IOException e) {
        // Only root may give a file away.
      }
    }
    view.setPermissions(mode);
  }

  private static String asideName(FencingToken token) {
    return FenceMarks.digits(token.value()) + "-" + UUID.randomUUID() + UNFINISHED;
  }

  private void write(Path aside, Content content) throws IOException {
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    // Nobody may read the copy who may not read the file.
    FileAttribute<?>[] access =
        isPosix(folder) && Files.exists(file)
            ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER_ONLY)}
            : new FileAttribute<?>[0];
    try (FileChannel channel = FileChannel.open(aside, options, access);
        OutputStream out = Channels.newOutputStream(channel)) {
      content.writeTo(out);
      out.flush();
      channel.force(true);
    }
  }

  /**
   * What has a token below the exclusive mark will be refused, whether its writer still lives or
   * not. A shared token that is only below a larger shared one still passes.
   */
  private void forgetOvertaken(FenceMarks now) throws IOException {
    String newest = FenceMarks.digits(now.exclusive());
    try (DirectoryStream<Path> unfinished = Files.newDirectoryStream(folder, "*" + UNFINISHED)) {
      for (Path aside : unfinished) {
        if (aside.getFileName().toString().compareTo(newest) < 0) {
          Files.deleteIfExists(aside);
        }
      }
    } catch (NoSuchFileException e) {
      // Someone tidies up; nothing is left to do.
    }
  }
}
