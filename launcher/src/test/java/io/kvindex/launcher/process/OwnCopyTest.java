// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.streams.CopyConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OwnCopyTest {

  @TempDir private Path directory;

  /** Nothing listens there. */
  private void start() throws InterruptedException {
    OwnCopy.start(
        CopyConfig.of(Map.of("bootstrap.servers", "127.0.0.1:1"), "test", directory)
            .advertisedAs("127.0.0.1:1"),
        1,
        () -> 0,
        new SimpleMeterRegistry());
  }

  @Test
  void shouldSayWhoHasTheDirectory_whenItIsInUse() {
    try (TablesLock other = TablesLock.take(directory)) {
      assertThatThrownBy(this::start)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(directory.toString())
          .hasMessageContaining("process " + ProcessHandle.current().pid())
          .hasMessageContaining("--data-dir");
      assertThat(other).isNotNull();
    }
  }

  @Test
  void shouldTakeTheDirectory_whenTheOneThatHadItIsGone() {
    for (int i = 0; i < 2; i++) {
      try (TablesLock own = TablesLock.take(directory.resolve("new"))) {
        assertThat(own).isNotNull();
      }
    }
  }

  @Test
  void shouldSayWhichDirectory_whenItCanNotBeUsed() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThatThrownBy(() -> TablesLock.take(file))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(file.toString());
  }
}
