package io.fenceline.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The files of the clone that this module is in. */
final class Repository {
  static final Path ROOT = Path.of("").toAbsolutePath().getParent();

  private static List<Document> documents = List.of();

  private Repository() {}

  /** Every page in Markdown. */
  static synchronized List<Document> documents() {
    if (documents.isEmpty()) {
      documents = files(".md").stream().map(Document::read).toList();
    }
    return documents;
  }

  /** One page, by its path from the root. */
  static Document document(String path) {
    return Document.read(ROOT.resolve(path));
  }

  /** The files whose names end like this, without what is built or hidden. */
  static List<Path> files(String suffix) {
    List<Path> found = new ArrayList<>();
    try {
      Files.walkFileTree(
          ROOT,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes ignored) {
              String name = folder.getFileName().toString();
              return !folder.equals(ROOT) && (name.startsWith(".") || name.equals("target"))
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes ignored) {
              if (file.toString().endsWith(suffix)) {
                found.add(file);
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Collections.sort(found);
    return found;
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
