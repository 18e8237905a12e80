// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.view.CheckpointOffer;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * A checkpoint on its way to another process: what it is, then each file's name, length, bytes and
 * checksum. A stream that ends early is noticed, as it says first how many files there are.
 */
public final class CheckpointStream {

  private static final int MAGIC = 0x4B564350;
  private static final int VERSION = 2;
  private static final int CHUNK = 256 << 10;
  private static final int MOST_FILES = 1_000_000;

  /** No path, and nothing hidden. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,200}");

  private CheckpointStream() {}

  /**
   * Sends the files of a directory that nobody changes meanwhile.
   *
   * @param header what they are of
   * @param progress bytes; may wait, or end it by an exception
   * @return bytes of files that were sent
   */
  public static long send(Header header, Path directory, OutputStream to, Progress progress)
      throws IOException {
    List<Path> files = filesOf(directory);
    DataOutputStream out = new DataOutputStream(to);
    out.writeInt(MAGIC);
    out.writeByte(VERSION);
    out.writeInt(header.partition());
    out.writeInt(Header.LAYOUT);
    out.writeUTF(header.topicId().toString());
    out.writeLong(header.folded().offset());
    out.writeLong(header.folded().lineageStart());
    long total = bytes(files);
    out.writeLong(total);
    out.writeInt(files.size());
    byte[] chunk = new byte[CHUNK];
    long sent = 0;
    for (Path file : files) {
      long length = Files.size(file);
      out.writeUTF(file.getFileName().toString());
      out.writeLong(length);
      CRC32C sum = new CRC32C();
      try (InputStream in = Files.newInputStream(file)) {
        for (long left = length; left > 0; ) {
          int read = in.read(chunk, 0, (int) Math.min(left, CHUNK));
          if (read < 0) {
            throw new EOFException(file + " became shorter");
          }
          sum.update(chunk, 0, read);
          out.write(chunk, 0, read);
          left -= read;
          sent += read;
          progress.at(sent, total);
        }
      }
      out.writeInt((int) sum.getValue());
    }
    out.flush();
    return sent;
  }

  /**
   * Receives what {@link #send} has sent, into files that are on the disk afterwards.
   *
   * @param into a directory that is not there yet
   * @param wanted what it must be, which is told before any file comes
   * @throws CheckpointRefusedException if it is no such stream, or not what is wanted, or what came
   *     is not what was sent
   */
  static void receive(InputStream from, Path into, Wanted wanted, Progress progress)
      throws IOException, CheckpointRefusedException, InterruptedException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(from, CHUNK));
    if (in.readInt() != MAGIC || in.readUnsignedByte() != VERSION) {
      throw new CheckpointRefusedException(Reason.DAMAGED, "what came is no checkpoint");
    }
    int partition = in.readInt();
    int layout = in.readInt();
    CheckpointOffer offer =
        new CheckpointOffer(
            partition, layout, in.readUTF(), in.readLong(), in.readLong(), in.readLong(), false);
    wanted.require(offer);
    Files.createDirectory(into);
    int files = in.readInt();
    if (files < 1 || files > MOST_FILES) {
      throw new CheckpointRefusedException(Reason.DAMAGED, "it has " + files + " files");
    }
    long received = 0;
    for (int i = 0; i < files; i++) {
      String name = in.readUTF();
      if (!NAME.matcher(name).matches()) {
        throw new CheckpointRefusedException(Reason.DAMAGED, "a file has a name like no file's");
      }
      received = receiveFile(in, into.resolve(name), received, offer.bytes(), progress);
    }
    sync(into);
  }

  private static long receiveFile(
      DataInputStream in, Path file, long before, long total, Progress progress)
      throws IOException, CheckpointRefusedException, InterruptedException {
    byte[] chunk = new byte[CHUNK];
    CRC32C sum = new CRC32C();
    long length = in.readLong();
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long left = length; left > 0; ) {
        int read = in.read(chunk, 0, (int) Math.min(left, CHUNK));
        if (read < 0) {
          throw new EOFException("the checkpoint ends early");
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        sum.update(chunk, 0, read);
        for (ByteBuffer bytes = ByteBuffer.wrap(chunk, 0, read); bytes.hasRemaining(); ) {
          out.write(bytes);
        }
        left -= read;
        progress.at(before + length - left, total);
      }
      out.force(true);
    }
    if (in.readInt() != (int) sum.getValue()) {
      throw new CheckpointRefusedException(
          Reason.DAMAGED, file.getFileName() + " is not as it was sent");
    }
    return before + length;
  }

  /** Without what RocksDB makes anew at each opening. */
  static List<Path> filesOf(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> !file.getFileName().toString().matches("LOCK|LOG.*"))
          .sorted()
          .toList();
    }
  }

  static long bytes(List<Path> files) throws IOException {
    long bytes = 0;
    for (Path file : files) {
      bytes += Files.size(file);
    }
    return bytes;
  }

  /** Puts a file on the disk, or the names of files in a directory. */
  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
