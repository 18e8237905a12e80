// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.row.BlockRow;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RememberedBlocksTest {

  private record Key(int owner, long hash, int group) {}

  private final Random random = new Random(1);

  private BlockRow row() {
    return switch (random.nextInt(8)) {
      case 0 -> new BlockRow(2, 7, true, random.nextLong());
      case 1 -> BlockRow.unresolved(1, 3);
      case 2 -> new BlockRow(1, Integer.MAX_VALUE, true, random.nextLong());
      default -> new BlockRow(1, random.nextInt(1 << 24), true, random.nextLong());
    };
  }

  @Test
  void shouldNeverAnswerWithAnotherRow_whateverIsWritten() {
    RememberedBlocks blocks = new RememberedBlocks(1 << 12);
    Map<Key, BlockRow> stored = new HashMap<>();
    int known = 0;
    for (int i = 0; i < 500_000; i++) {
      // Few hashes for several owners and groups: places are shared, and 0 is a hash like others.
      Key key = new Key(random.nextInt(3), random.nextInt(2_000), random.nextInt(64) / 60);
      if (random.nextInt(3) == 0) {
        stored.remove(key);
        blocks.written(key.owner(), key.hash(), key.group(), null);
      } else {
        BlockRow row = row();
        stored.put(key, row);
        blocks.written(key.owner(), key.hash(), key.group(), row);
      }
      Key asked = new Key(random.nextInt(3), random.nextInt(2_000), random.nextInt(64) / 60);
      BlockRow answer = blocks.get(asked.owner(), asked.hash(), asked.group());
      if (answer != null) {
        known++;
        assertThat(answer).isEqualTo(stored.get(asked));
      }
    }
    assertThat(known).isGreaterThan(100_000);
  }

  @Test
  void shouldKnowMostOfWhatWasWrittenLast_whenItHasGrownToItsBound() {
    int bound = 1 << 16;
    int resident = bound / 4;
    RememberedBlocks blocks = new RememberedBlocks(bound);
    int found = 0;
    for (long hash = 0; hash < 20L * resident; hash++) {
      blocks.written(1, hash * 0x9E3779B97F4A7C15L, 0, new BlockRow(1, 1, true, hash));
      long oldest = (hash - resident) * 0x9E3779B97F4A7C15L;
      if (hash >= resident) {
        found += blocks.get(1, oldest, 0) == null ? 0 : 1;
        blocks.written(1, oldest, 0, null);
      }
    }
    assertThat(found).isGreaterThan((int) (0.95 * 19 * resident));
  }
}
