// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * RocksDB's files of one store, looked at before anybody uses them. RocksDB verifies what it reads
 * when it reads it, and a scan that meets a damaged block just ends (Kafka Streams 4.3 does not ask
 * an iterator why it ended): rows would be missing without a word.
 */
public final class RowFiles {

  static {
    RocksDB.loadLibrary();
  }

  /** Where Kafka Streams keeps how far a store follows, beside its rows (4.3, KIP-1035). */
  private static final String OFFSETS = "offsets";

  /** There: whether the store is in use, as a long; all other keys but the next name partitions. */
  private static final String STATUS = "status";

  private static final String POSITION = "position";
  private static final long IN_USE = 1;

  private RowFiles() {}

  /**
   * Reads all of a database's files once; about as fast as the disk is.
   *
   * @param directory of the database; need not exist
   * @return what is wrong with it, null = nothing
   */
  public static @Nullable String damage(Path directory) {
    if (!Files.exists(directory)) {
      return null;
    }
    if (!Files.isDirectory(directory)) {
      return "it is not a directory";
    }
    try (Options options = new Options()) {
      List<ColumnFamilyDescriptor> families = new ArrayList<>();
      for (byte[] name : RocksDB.listColumnFamilies(options, directory.toString())) {
        families.add(new ColumnFamilyDescriptor(name, new ColumnFamilyOptions()));
      }
      return families.isEmpty() ? "it has no rows" : damage(directory, families);
    } catch (RocksDBException | IOException e) {
      return e.getMessage() == null ? e.toString() : e.getMessage();
    }
  }

  /**
   * Whether rows were left behind by a process that was killed: never closed, or without a word of
   * how far they follow. Under exactly-once Kafka Streams throws such rows away, with errors and
   * stack traces for what is ordinary.
   *
   * @param directory of the database; need not exist
   * @return false also where it cannot be read, which {@link #damage} tells
   */
  public static boolean wereLeftOpen(Path directory) {
    if (!Files.isDirectory(directory)) {
      return false;
    }
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (Options options = new Options()) {
      int offsets = -1;
      for (byte[] name : RocksDB.listColumnFamilies(options, directory.toString())) {
        offsets = new String(name, UTF_8).equals(OFFSETS) ? families.size() : offsets;
        families.add(new ColumnFamilyDescriptor(name, new ColumnFamilyOptions()));
      }
      if (offsets < 0) {
        return false; // of a version that kept them elsewhere
      }
      try (DBOptions dbOptions = new DBOptions();
          RocksDB files =
              RocksDB.openReadOnly(dbOptions, directory.toString(), families, handles)) {
        return wereLeftOpen(files, handles.get(offsets));
      }
    } catch (RocksDBException e) {
      return false;
    } finally {
      handles.forEach(ColumnFamilyHandle::close);
      families.forEach(family -> family.getOptions().close());
    }
  }

  private static boolean wereLeftOpen(RocksDB files, ColumnFamilyHandle offsets)
      throws RocksDBException {
    byte[] status = files.get(offsets, STATUS.getBytes(UTF_8));
    boolean inUse =
        status != null
            && status.length == Long.BYTES
            && ByteBuffer.wrap(status).getLong() == IN_USE;
    boolean follows = false;
    try (RocksIterator entries = files.newIterator(offsets)) {
      for (entries.seekToFirst(); entries.isValid(); entries.next()) {
        String key = new String(entries.key(), UTF_8);
        follows |= !key.equals(STATUS) && !key.equals(POSITION);
      }
    }
    return inUse || !follows;
  }

  private static @Nullable String damage(Path directory, List<ColumnFamilyDescriptor> families)
      throws RocksDBException, IOException {
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (DBOptions options = new DBOptions();
        RocksDB files = RocksDB.openReadOnly(options, directory.toString(), families, handles)) {
      files.verifyChecksum();
      Set<String> known = new HashSet<>();
      for (LiveFileMetaData file : files.getLiveFilesMetaData()) {
        known.add(file.fileName().replace("/", ""));
      }
      return unknownFile(directory, known);
    } finally {
      handles.forEach(ColumnFamilyHandle::close);
      families.forEach(family -> family.getOptions().close());
    }
  }

  /** A manifest that was cut off is read up to there, and leads to an older state. */
  private static @Nullable String unknownFile(Path directory, Set<String> known)
      throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".sst") && !known.contains(name))
          .findAny()
          .map(name -> "its manifest does not know " + name)
          .orElse(null);
    }
  }

  /**
   * Deletes a directory with all that is in it, also where somebody has taken the owner's own right
   * to do so away.
   *
   * @throws IOException naming what can not be deleted
   */
  public static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
            makeAccessible(dir);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException problem)
              throws IOException {
            Files.delete(dir);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private static void makeAccessible(Path dir) {
    try {
      if (!Files.isWritable(dir) || !Files.isExecutable(dir)) {
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-x---"));
      }
    } catch (IOException | UnsupportedOperationException e) {
      // Not ours to change: what follows says that it can not be deleted.
    }
  }
}
