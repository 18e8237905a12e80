// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.EngineEvent.Stored;
import io.kvindex.bridge.decode.TokenIds;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SaltMemoryTest {

  private static final CacheScope GPU =
      new CacheScope("GPU", CacheScope.NO_GROUP, null, 0, null, null);
  private static final int SOME = 5_000;

  @Test
  void shouldBeSure_whenNothingWasForgotten() {
    SaltMemory memory = new SaltMemory(true);
    for (long block = 1; block <= SOME; block++) {
      assertThat(memory.of(stored("salt " + block, null, block))).isEqualTo("salt " + block);
    }
    for (long block = 1; block <= SOME; block++) {
      assertThat(memory.of(stored(null, block, -block))).isEqualTo("salt " + block);
    }
    assertThat(memory.isUnsure(stored(null, SOME + 1L, 7))).isFalse();
  }

  @Test
  void shouldSaySo_whenTheBlockAboveMayHaveBeenSaltedBeforeItBegan() {
    SaltMemory memory = new SaltMemory(false);
    memory.of(stored("salt", null, 1));
    assertThat(memory.isUnsure(stored(null, 9L, 10))).isTrue();
    assertThat(memory.isUnsure(stored("", 9L, 10))).isTrue();
    assertThat(memory.isUnsure(stored(null, 1L, 2))).as("known to be salted").isFalse();
    assertThat(memory.isUnsure(stored(null, null, 3))).as("opens a prompt").isFalse();
    assertThat(memory.isUnsure(stored("other", 9L, 10))).as("says itself").isFalse();
  }

  @Test
  void shouldForgetTheOldest_whenThereAreMoreBlocksThanPlaces() {
    SaltMemory memory = new SaltMemory(true);
    Stored many = stored("salt", null, LongStream.rangeClosed(1, 100_000).toArray());
    memory.of(many);
    long kept =
        LongStream.rangeClosed(1, 100_000)
            .filter(block -> memory.of(stored(null, block)) != null)
            .count();
    assertThat(kept).isBetween(50_000L, 65_536L);
    assertThat(memory.of(stored(null, 100_000L))).isEqualTo("salt");
    assertThat(memory.of(stored(null, 1L))).isNull();
    assertThat(memory.isUnsure(stored(null, 1L, 7))).isTrue();
  }

  @Test
  void shouldKeepTextBounded_whenSaltsAreLong() {
    SaltMemory memory = new SaltMemory(true);
    int fit = SaltMemory.MOST_CHARS / 4_096;
    for (long block = 1; block <= fit; block++) {
      memory.of(stored(longSalt(block), null, block));
    }
    // The same block under another salt: what it was under is let go.
    memory.of(stored(longSalt(-1), null, fit));
    assertThat(memory.of(stored(null, 1L, 1))).as("still full").isNull();
    assertThat(memory.isUnsure(stored(null, 1L, 2))).isTrue();
    assertThat(memory.of(stored(null, (long) fit, 3))).isEqualTo(longSalt(-1));

    SaltMemory reused = new SaltMemory(true);
    for (int i = 0; i < 3 * fit; i++) {
      reused.of(stored(longSalt(i), null, i % 16));
    }
    assertThat(reused.isUnsure(stored(null, 99L, 100))).as("never more than 16 at once").isFalse();
  }

  private static String longSalt(long number) {
    return String.format("%04096d", number);
  }

  private static Stored stored(@Nullable String salt, @Nullable Long parent, long... hashes) {
    return new Stored(
        GPU,
        Hashes.of(hashes),
        parent == null ? Parent.UNKNOWN : Parent.of(parent),
        TokenIds.NONE,
        16,
        Adapter.NONE,
        salt,
        Hashes.EMPTY,
        null);
  }
}
