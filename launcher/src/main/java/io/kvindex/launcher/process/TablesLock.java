// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Keeps other processes from a directory of tables, and tells them whose it is: RocksDB, which
 * locks its files as well, does not say who has them. Close once.
 */
final class TablesLock implements AutoCloseable {

  /** Holds the process id of who has it. */
  static final String FILE = "tables.lock";

  private final FileChannel channel;

  private TablesLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes it; the end of the process gives it back as well.
   *
   * @param directory made if it is not there
   * @throws IllegalStateException if another process has it, or this one, or the directory can not
   *     be used
   */
  static TablesLock take(Path directory) {
    try {
      Files.createDirectories(directory);
      Path file = directory.resolve(FILE);
      FileChannel channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (!isMine(channel)) {
        channel.close();
        throw new IllegalStateException(
            "the tables under "
                + directory
                + " are in use by another kvindex (process "
                + Files.readString(file)
                + "): stop it, or give this one a --data-dir of its own");
      }
      channel.truncate(0);
      channel.write(ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(UTF_8)));
      return new TablesLock(channel);
    } catch (IOException e) {
      throw new IllegalStateException(
          "the tables under "
              + directory
              + " can not be used ("
              + e
              + "): give this user the right to read and write there",
          e);
    }
  }

  private static boolean isMine(FileChannel channel) throws IOException {
    try {
      return channel.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false; // held by this very process
    }
  }

  /** Gives it back. The file stays: to delete it could take it from who comes next. */
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException("the lock of the tables can not be given back", e);
    }
  }
}
