// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BulkRowsTest {

  private static final int BATCHES = 20_000;

  private final Random random = new Random(3);
  private final KeyValueStore<Bytes, byte[]> inner = Stores.inMemoryKeyValueStore("rows").get();
  private final BulkRows rows = new BulkRows(inner);
  private final Map<Bytes, byte[]> expected = new TreeMap<>();

  /** Some hundred thousand keys of two lengths, so that rows are drained in between. */
  private Bytes key() {
    int id = random.nextInt(300_000);
    byte[] key = new byte[id % 7 == 0 ? 5 : 14];
    key[0] = (byte) (id % 2 == 0 ? 'B' : 'K');
    for (int i = 0; i < 4; i++) {
      key[1 + i] = (byte) (id >>> 8 * i);
    }
    return Bytes.wrap(key);
  }

  private void write(KeyValue<Bytes, byte[]> row) {
    if (row.value == null) {
      expected.remove(row.key);
    } else {
      expected.put(row.key, row.value);
    }
  }

  @SuppressWarnings("NullAway") // Kafka's list of rows takes null for a deletion
  private List<KeyValue<Bytes, byte[]>> batch(int size) {
    List<KeyValue<Bytes, byte[]>> batch = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      byte @Nullable [] value = random.nextInt(3) == 0 ? null : new byte[] {(byte) i};
      batch.add(KeyValue.pair(key(), value));
    }
    batch.forEach(this::write);
    return batch;
  }

  @Test
  void shouldAnswerLikeOneMap_whereverARowIsOnItsWay() {
    for (int i = 0; i < BATCHES; i++) {
      rows.putAll(batch(1 + random.nextInt(16)));
      Bytes asked = key();
      assertThat(rows.get(asked)).isEqualTo(expected.get(asked));
    }
    assertThat(inner.approximateNumEntries())
        .as("some are written, some wait")
        .isBetween(1L, expected.size() - 1L);
    assertSame(rows.all());
    Bytes one = key();
    rows.put(one, new byte[] {42});
    assertThat(rows.putIfAbsent(one, new byte[] {43})).containsExactly(42);
    assertThat(rows.delete(one)).containsExactly(42);
    assertThat(rows.get(one)).isNull();
    expected.remove(one);
    rows.putAll(batch(100_000));
    rows.putAll(batch(100));
    rows.commit(Map.of());
    assertSame(inner.all());
  }

  private void assertSame(KeyValueIterator<Bytes, byte[]> all) {
    try (all) {
      for (Map.Entry<Bytes, byte[]> next : expected.entrySet()) {
        KeyValue<Bytes, byte[]> row = all.next();
        assertThat(row.key).isEqualTo(next.getKey());
        assertThat(row.value).isEqualTo(next.getValue());
      }
      assertThat(all.hasNext()).isFalse();
    }
  }
}
