// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;

class RocksLibraryTest {

  @TempDir private Path stateDir;
  private RocksLibrary library;

  @BeforeEach
  void create() {
    library = new RocksLibrary(stateDir.resolve("made"));
  }

  private Path unpacked() throws IOException {
    return Objects.requireNonNull(library.unpacked());
  }

  @Test
  void shouldKeepWhatTheJarHas() throws IOException {
    Path file = unpacked();
    assertThat(file).startsWith(stateDir);
    try (InputStream packed =
        Objects.requireNonNull(
            RocksDB.class.getClassLoader().getResourceAsStream(RocksLibrary.PACKED))) {
      assertThat(file).hasBinaryContent(packed.readAllBytes());
    }
    try (var names = Files.list(Objects.requireNonNull(file.getParent()))) {
      assertThat(names.map(each -> each.getFileName().toString()))
          .containsExactly(file.getFileName().toString());
    }
  }

  @Test
  void shouldWriteItOnce() throws IOException {
    Object first = Files.readAttributes(unpacked(), "unix:ino").get("ino");
    assertThat(Files.readAttributes(unpacked(), "unix:ino")).containsEntry("ino", first);
  }

  @Test
  void shouldWriteItAnew_whenItIsDamaged() throws IOException {
    Path file = unpacked();
    byte[] intact = Files.readAllBytes(file);
    byte[] damaged = intact.clone();
    damaged[damaged.length / 2] ^= 1;
    Files.write(file, damaged);
    assertThat(unpacked()).hasBinaryContent(intact);
  }

  @Test
  void shouldWriteItAnew_whenItIsOfAnotherLengthOrOnlyAPartWasWritten() throws IOException {
    Path file = unpacked();
    byte[] intact = Files.readAllBytes(file);
    Files.write(file, new byte[17]);
    Files.write(file.resolveSibling(file.getFileName() + ".part"), new byte[5]);
    assertThat(unpacked()).hasBinaryContent(intact);
  }

  @Test
  void shouldLoadIt() {
    library.load();
    assertThatCode(RocksDB::loadLibrary).doesNotThrowAnyException();
    assertThat(RocksDB.rocksdbVersion().getMajor()).isPositive();
  }

  @Test
  void shouldLeaveItToRocksDb_whereNothingCanBeWritten() throws IOException {
    Path file = Files.createFile(stateDir.resolve("file"));
    assertThatCode(() -> new RocksLibrary(file).load()).doesNotThrowAnyException();
  }
}
