// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RocksDB's native code, kept beside the rows. Left to itself RocksDB unpacks its 15 MB into the
 * directory for temporary files at each start, and who is killed leaves them there
 * (NativeLibraryLoader.java, RocksDB 10.1.3).
 */
final class RocksLibrary {

  private static final Logger LOG = LoggerFactory.getLogger(RocksLibrary.class);

  /** Its name in the jar. */
  static final String PACKED = Environment.getJniLibraryFileName("rocksdb");

  /** What {@link RocksDB#loadLibrary(List)} looks for, which has "jni" twice. */
  private static final String KEPT = Environment.getJniLibraryFileName("rocksdbjni");

  private final Path directory;

  /**
   * @param stateDir this process's own, made if it is not there
   */
  RocksLibrary(Path stateDir) {
    directory = stateDir.resolve("native");
  }

  /**
   * Loads it, unless this process has it by now. Where that can't be, RocksDB finds its own way.
   */
  void load() {
    try {
      if (unpacked() != null) {
        RocksDB.loadLibrary(List.of(directory.toAbsolutePath().toString()));
      }
    } catch (IOException | UnsatisfiedLinkError e) {
      LOG.info("RocksDB's native code is not kept in {}: {}", directory, e.toString());
    }
  }

  /** The file, checked or written; null = there is none for this system, or it is in no jar. */
  @Nullable Path unpacked() throws IOException {
    URL packed = RocksDB.class.getClassLoader().getResource(PACKED);
    URLConnection connection = packed == null ? null : packed.openConnection();
    if (!(connection instanceof JarURLConnection inJar)) {
      return null;
    }
    Path file = directory.resolve(KEPT);
    Files.createDirectories(directory);
    if (!isIntact(file, inJar.getJarEntry())) {
      unpack(inJar, file);
    }
    return file;
  }

  /** Who is killed meanwhile leaves a part that the next one writes anew. */
  private static void unpack(JarURLConnection packed, Path file) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try (InputStream content = packed.getInputStream()) {
      Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
    }
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Damaged native code would end the process at each start anew, and nobody could say why. */
  private static boolean isIntact(Path file, JarEntry packed) throws IOException {
    if (!Files.isRegularFile(file) || Files.size(file) != packed.getSize()) {
      return false;
    }
    CRC32 checksum = new CRC32();
    checksum.update(Files.readAllBytes(file));
    return checksum.getValue() == packed.getCrc();
  }
}
