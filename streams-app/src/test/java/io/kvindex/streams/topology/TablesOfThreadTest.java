// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.store.CommittedRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TablesOfThreadTest {

  private static final int TABLES = 20;

  private final TablesOfThread tables = TablesOfThread.current();
  private final List<Integer> saved = new ArrayList<>();

  @AfterEach
  void end() {
    IntStream.range(0, TABLES).forEach(tables::ends);
  }

  private void begin(int partition, boolean saves) {
    CommittedRows rows =
        (changelog, last) -> {
          assertThat(changelog.partition()).isEqualTo(partition);
          assertThat(last).isEqualTo(100 + partition);
          if (saves) {
            saved.add(partition);
          }
          return saves;
        };
    tables.begins(partition, rows);
  }

  private void commit(int... partitions) {
    Map<TopicPartition, Long> last =
        IntStream.of(partitions)
            .boxed()
            .collect(Collectors.toMap(p -> new TopicPartition("changelog", p), p -> 100L + p));
    tables.committed(last);
  }

  /** However many there are, and however soon the first ones are due again. */
  @Test
  void shouldSaveOneAtACommit_andEachInItsTurn() {
    for (int partition = 0; partition < TABLES; partition++) {
      begin(partition, true);
    }
    int[] all = IntStream.range(0, TABLES).toArray();
    for (int commit = 0; commit < 2 * TABLES; commit++) {
      commit(all);
      assertThat(saved).hasSize(commit + 1);
    }
    assertThat(saved.subList(0, TABLES)).doesNotHaveDuplicates();
    assertThat(saved.subList(TABLES, 2 * TABLES)).doesNotHaveDuplicates();
  }

  @Test
  void shouldAskTheNext_whenOneIsNotSaved() {
    begin(0, false);
    begin(1, true);
    commit(0, 1);
    assertThat(saved).containsExactly(1);
  }

  @Test
  void shouldTellNobody_whoHasWrittenNothingOrHasEnded() {
    begin(0, true);
    begin(1, true);
    tables.ends(1);
    commit(1, 2);
    assertThat(saved).isEmpty();
  }
}
