package io.fenceline.jdbc.connection;

import io.fenceline.StoreRefusedException;
import io.fenceline.diagnosis.Finding;
import io.fenceline.settings.InvalidSettingException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Where the SQLite file is: as given, or in the user's state folder. */
public final class SqliteFile {
  private static final Pattern OVER_A_NETWORK =
      Pattern.compile(
          "nfs.*|cifs|smb.*|afs|afpfs|ncpfs|coda|ceph|lustre|gpfs|beegfs|orangefs|pvfs2|gfs2?|ocfs2"
              + "|panfs|wekafs|davfs|webdav|9p"
              + "|fuse\\.(sshfs|glusterfs|ceph.*|s3fs|mount-s3|goofys|gcsfuse|blobfuse2?|rclone"
              + "|davfs2?|smb.*|juicefs.*|seaweedfs|mfs.*|lizardfs|quobyte.*)"
              // What a virtual machine shares with its host; virtiofs may also be all that it has.
              + "|vboxsf|vmhgfs|prl_fs|osxfs|fuse\\.(vmhgfs-fuse|grpcfuse|osxfs)");

  private static final String CHECK = "file permissions";
  private static final int STICKY = 01000;

  private SqliteFile() {}

  public static Path at(String path) {
    if (path.isEmpty()) {
      return stateFolder(System::getenv, System.getProperty("user.home"));
    }
    if (path.startsWith(":")) {
      throw new InvalidSettingException(
          "sqlite path", path, "it must be a file; for locks in memory use memory:");
    }
    try {
      return Path.of(path).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new InvalidSettingException("sqlite path", path, "it must be the path of a file");
    }
  }

  /** As the XDG base directory specification has it. */
  public static Path stateFolder(UnaryOperator<@Nullable String> environment, String home) {
    String state = environment.apply("XDG_STATE_HOME");
    // A relative path is to be ignored, says the specification.
    Path base =
        state != null && Path.of(state).isAbsolute()
            ? Path.of(state)
            : Path.of(home, ".local", "state");
    return base.resolve("fenceline").resolve("locks.db");
  }

  /**
   * Makes the folder and the file, for their user alone: whoever can read the file can lock parts
   * of it, and so keep its holders from renewing. SQLite gives its other files the same mode.
   */
  public static void create(Path file, String description) {
    Path folder = file.getParent();
    if (Files.isDirectory(file)) {
      throw unusable(description, "it is a folder; name a file in it", null);
    }
    try {
      if (folder != null && !Files.isDirectory(folder)) {
        Files.createDirectories(folder, mode("rwx------"));
      }
    } catch (AccessDeniedException e) {
      throw unusable(description, "the folder " + e.getFile() + " can't be written", e);
    } catch (FileAlreadyExistsException e) {
      throw unusable(description, e.getFile() + " is not a folder", e);
    } catch (IOException e) {
      throw unusable(description, "its folder can't be created: " + e.getMessage(), e);
    }
    createFile(file);
  }

  private static void createFile(Path file) {
    try {
      if (!Files.exists(file)) {
        Files.createFile(file, mode("rw-------"));
      }
    } catch (IOException e) {
      // Another process was faster, or SQLite will say what is wrong.
    }
  }

  private static FileAttribute<?>[] mode(String permissions) {
    boolean isPosix = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    return isPosix
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }

  /** Whether others can lock the file or replace it; one that was made before is left as it is. */
  public static List<Finding> findings(Path file) {
    try {
      List<Path> all = new ArrayList<>(List.of(file));
      for (String more : List.of("-wal", "-shm")) {
        Path beside = file.resolveSibling(file.getFileName() + more);
        if (Files.exists(beside)) {
          all.add(beside);
        }
      }
      Path folder = Objects.requireNonNull(file.getParent());
      Finding found = null;
      for (Path each : all) {
        found = worse(found, finding(each, file));
      }
      return List.of(worse(found, finding(folder)));
    } catch (IOException | UnsupportedOperationException e) {
      return List.of();
    }
  }

  private static Finding worse(@Nullable Finding one, Finding other) {
    return one == null || other.severity().compareTo(one.severity()) > 0 ? other : one;
  }

  private static Finding finding(Path each, Path file) throws IOException {
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(each);
    String found = each + " is " + PosixFilePermissions.toString(mode);
    String meaning = "Whoever can read the file can make its holders lose their locks.";
    String advice = "chmod 600 " + file + "*";
    if (isOfOthers(each)) {
      return Finding.serious(
          CHECK,
          each + " belongs to " + Files.getOwner(each).getName(),
          "Its owner can take and break your locks.",
          "Use a file of your own, unless its owner shares the locks.");
    }
    boolean forAll =
        mode.contains(PosixFilePermission.OTHERS_READ)
            || mode.contains(PosixFilePermission.OTHERS_WRITE);
    boolean forGroup =
        mode.contains(PosixFilePermission.GROUP_READ)
            || mode.contains(PosixFilePermission.GROUP_WRITE);
    if (forAll) {
      return Finding.serious(CHECK, found, meaning, advice);
    }
    return forGroup
        ? Finding.note(CHECK, found, meaning, advice + ", unless its group shares the locks")
        : Finding.ok(CHECK, found, "Only its user can lock it.");
  }

  /** Whoever may write a folder may replace its files; in one like /tmp, only the own ones. */
  private static Finding finding(Path folder) throws IOException {
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(folder);
    boolean isSticky = ((Integer) Files.getAttribute(folder, "unix:mode") & STICKY) != 0;
    String found = folder + " is " + PosixFilePermissions.toString(mode);
    String meaning = "Whoever can write the folder can put another file in the place of this one.";
    String advice = "chmod 700 " + folder;
    if (isOfOthers(folder)) {
      return Finding.serious(
          CHECK, folder + " belongs to " + Files.getOwner(folder).getName(), meaning, advice);
    } else if (mode.contains(PosixFilePermission.OTHERS_WRITE) && !isSticky) {
      return Finding.serious(CHECK, found, meaning, advice);
    } else if (mode.contains(PosixFilePermission.GROUP_WRITE) && !isSticky) {
      return Finding.note(CHECK, found, meaning, advice + ", unless its group shares the locks");
    }
    return Finding.ok(CHECK, found, "Only its user can replace the file.");
  }

  /** Root may do everything anyway. */
  private static boolean isOfOthers(Path path) throws IOException {
    int owner = (Integer) Files.getAttribute(path, "unix:uid");
    Path self = Path.of("/proc/self");
    boolean isOwn = !Files.exists(self) || Files.getAttribute(self, "unix:uid").equals(owner);
    return !isOwn && owner != 0;
  }

  /** The type of the file system that a file is on; empty if it can't be told. */
  public static String fileSystem(Path file) {
    try {
      return Files.getFileStore(file).type();
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * Refuses a network file system: processes of two machines would not see each other's locks on
   * the file, nor share the memory that the write-ahead log needs. The file may be a link to it.
   */
  public static void checkLocal(Path file, String description, Function<Path, String> fileSystem) {
    String type = fileSystem.apply(real(file)).toLowerCase(Locale.ROOT);
    if (OVER_A_NETWORK.matcher(type).matches()) {
      throw unusable(
          description, "it is on a network file system (" + type + "); use a local one", null);
    }
  }

  /** Where a file really is; its folder if there is no such file. */
  private static Path real(Path file) {
    try {
      return file.toRealPath();
    } catch (IOException e) {
      Path folder = file.getParent();
      return folder == null ? file : folder;
    }
  }

  private static StoreRefusedException unusable(
      String description, String why, @Nullable Exception cause) {
    return new StoreRefusedException(
        "The file can't be used for locks: " + why + " (store=" + description + ")", cause);
  }
}
