// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStateTest {

  @TempDir private Path dir;

  @Test
  void shouldTellRowsThatMayLackDeletions_byHowLongNobodyFollowed() {
    Instant now = Instant.now();
    LocalState state = new LocalState(dir.resolve("new"), "app");
    assertThat(state.isTooOld(now)).as("nothing there yet").isFalse();
    state.follows(now);
    assertThat(state.isTooOld(now.plus(Duration.ofMinutes(9)))).isFalse();
    assertThat(state.isTooOld(now.plus(Duration.ofMinutes(11)))).isTrue();
    state.follows(now.plus(Duration.ofMinutes(6)));
    LocalState next = new LocalState(dir.resolve("new"), "app");
    assertThat(next.isTooOld(now.plus(Duration.ofMinutes(11)))).isFalse();
    assertThat(next.isTooOld(now.plus(Duration.ofMinutes(17)))).isTrue();
    assertThat(new LocalState(dir.resolve("new"), "other").isTooOld(now)).isFalse();
  }
}
