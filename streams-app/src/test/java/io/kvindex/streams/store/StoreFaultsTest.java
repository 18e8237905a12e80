// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;

class StoreFaultsTest {

  private static final TaskId ONE = new TaskId(0, 1);
  private static final TaskId TWO = new TaskId(0, 2);

  private final AtomicInteger thrownAway = new AtomicInteger();
  private final StoreFaults faults = new StoreFaults(thrownAway::incrementAndGet);

  private static RuntimeException unreadable() {
    return new ProcessorStateException("get", new RocksDBException("Corruption: block checksum"));
  }

  @Test
  void shouldHaveRowsRestored_butNotForEver() {
    for (int i = 0; i < StoreFaults.MOST; i++) {
      assertThat(faults.of(ONE, unreadable()))
          .isInstanceOfSatisfying(
              TaskCorruptedException.class,
              restored -> assertThat(restored.corruptedTasks()).containsExactly(ONE));
    }
    assertThat(faults.of(ONE, unreadable()))
        .isInstanceOf(StoreFaults.GivenUpException.class)
        .hasMessageContaining("partition 1")
        .hasMessageContaining("block checksum");
    assertThat(faults.of(TWO, unreadable())).isInstanceOf(TaskCorruptedException.class);
    assertThat(thrownAway).hasValue(StoreFaults.MOST + 1);
  }

  @Test
  void shouldGiveUp_whenNothingRestoresRows() {
    StoreFaults single = new StoreFaults(thrownAway::incrementAndGet, false);
    assertThat(single.of(ONE, unreadable()))
        .isInstanceOf(StoreFaults.GivenUpException.class)
        .hasMessageContaining("partition 1")
        .hasMessageContaining("start the rebuild anew");
    assertThatThrownBy(() -> single.begins(1, false))
        .as("what was not written before is missing now")
        .isInstanceOf(StoreFaults.GivenUpException.class);
    single.begins(2, true);
    single.begins(3, true);
    single.begins(3, false);
    assertThatThrownBy(() -> single.begins(2, true))
        .isInstanceOf(StoreFaults.GivenUpException.class)
        .hasMessageContaining("rows of partition 2 are gone");
    assertThat(thrownAway).hasValue(0);
    faults.begins(2, true);
    faults.begins(2, true); // restored to nothing
  }

  @Test
  void shouldLeaveAlone_whatSaysNothingOfTheFiles() {
    RuntimeException closed = new InvalidStateStoreException("store is closed");
    assertThat(faults.of(ONE, closed)).isSameAs(closed);
    assertThat(thrownAway).hasValue(0);
  }
}
