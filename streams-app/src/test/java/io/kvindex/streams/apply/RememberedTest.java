// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.row.ContentRow;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RememberedTest {

  private final Remembered remembered = new Remembered();
  private final Random random = new Random(1);

  private ContentRow row() {
    return new ContentRow(
        random.nextLong(),
        random.nextLong(),
        random.nextLong(),
        0,
        random.nextInt(100),
        random.nextBoolean());
  }

  @Test
  void shouldLoseNothingOfTheRecordUnderWay_whenPlacesAreTaken() {
    Map<Long, ContentRow> taught = new HashMap<>();
    for (long hash = 1; hash <= 200_000; hash++) {
      ContentRow row = row();
      remembered.taught(3, hash, row);
      remembered.read(3, -hash, row());
      taught.put(hash, row);
    }
    taught.forEach((hash, row) -> assertThat(remembered.get(3, hash)).isEqualTo(row));
    assertThat(remembered.get(4, 1)).isNull();
    remembered.committed();
    long kept = taught.keySet().stream().filter(hash -> remembered.get(3, hash) != null).count();
    assertThat(kept).isBetween(1L, 1L << 16);
  }

  @Test
  void shouldNeverAnswerWithAnOlderMeaning_whenTaughtAgain() {
    Map<Long, ContentRow> newest = new HashMap<>();
    for (int i = 0; i < 500_000; i++) {
      long hash = random.nextInt(100_000);
      int what = random.nextInt(10);
      if (what < 6) {
        ContentRow row = row();
        remembered.taught(0, hash, row);
        newest.put(hash, row);
      } else if (what < 7) {
        remembered.forget(0, hash);
        newest.remove(hash);
      } else if (what < 8 && newest.containsKey(hash)) {
        remembered.read(0, hash, newest.get(hash));
      } else if (random.nextInt(100) == 0) {
        remembered.committed();
      }
      ContentRow answer = remembered.get(0, hash);
      assertThat(answer == null || answer.equals(newest.get(hash))).isTrue();
    }
  }
}
