// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

/** Where RocksDB's native code is kept. Each start is a process: a JVM loads it once only. */
@Timeout(60)
class RocksLibraryTest {

  /** Loads it as a copy does, and is killed. */
  static final class Killed {
    private Killed() {}

    public static void main(String[] args) {
      IndexCopy.unpackRocksDb(Path.of(args[0]));
      RocksDB.loadLibrary();
      System.out.println("loaded RocksDB " + RocksDB.rocksdbVersion());
      Runtime.getRuntime().halt(0);
    }
  }

  @TempDir private Path dir;
  private Path kept;
  private Path temporary;

  @BeforeEach
  void create() throws IOException {
    kept = dir.resolve("native");
    temporary = Files.createDirectory(dir.resolve("tmp"));
  }

  private void startAndKill() throws Exception {
    Path said = dir.resolve("said");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                Killed.class.getName(),
                kept.toString())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(said).content().contains("loaded RocksDB ");
    assertThat(process.exitValue()).isZero();
  }

  private static List<Path> librariesIn(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.getFileName().toString().contains("rocksdb")).toList();
    }
  }

  private static byte[] packed(Path file) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            RocksDB.class.getClassLoader().getResourceAsStream(file.getFileName().toString()))) {
      return in.readAllBytes();
    }
  }

  @Test
  void shouldKeepOneIntactFileAndLeaveNoneElsewhere_howeverProcessesEnd() throws Exception {
    startAndKill();
    assertThat(librariesIn(kept)).hasSize(1);
    Path file = librariesIn(kept).get(0);
    assertThat(file).hasBinaryContent(packed(file));
    Files.write(file, new byte[17]); // as a process leaves it that is killed while it writes
    startAndKill();
    assertThat(librariesIn(kept)).containsExactly(file);
    assertThat(file).hasBinaryContent(packed(file));
    assertThat(librariesIn(temporary)).isEmpty();
  }

  @Test
  void shouldUseTheDirectoryForTemporaryFiles_whereNoneCanBeKept() throws Exception {
    Files.createFile(kept); // so it can be no directory
    startAndKill();
    assertThat(librariesIn(temporary)).hasSize(1);
  }
}
