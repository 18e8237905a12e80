// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Place;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.apply.Outcome;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.view.PartitionView.State;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The shape of the topology, and what does not fit into it. */
class IndexTopologyTest {

  @TempDir private Path dir;

  /** Rows of one layout must never be read as another's: copies follow the topic of their own. */
  @Test
  void shouldKeepRowsOfEachLayoutApart() {
    assertThat(IndexTopology.storeOf(1)).isEqualTo("prefix-table");
    assertThat(IndexTopology.storeOf(2)).isNotEqualTo(IndexTopology.storeOf(1));
    assertThat(IndexTopology.changelogOf("app")).contains(IndexTopology.STORE);
  }

  @Test
  void shouldKeepItsShape() throws IOException {
    String described =
        new IndexTopology(new Epochs(), (outcome, n) -> {}, Limits.DEFAULT)
            .get()
            .describe()
            .toString();
    try (InputStream golden = IndexTopologyTest.class.getResourceAsStream("/topology.txt")) {
      assertThat(described.strip())
          .as("a change here renames topics or stores of running sites")
          .isEqualTo(
              new String(Objects.requireNonNull(golden).readAllBytes(), StandardCharsets.UTF_8)
                  .strip());
    }
  }

  @Test
  void shouldGoOn_whenRecordIsNoneOfOurs() {
    Engine e1 = new Engine("e1");
    byte[] good = EventRecordCodec.encode(new Engine("x").batch());
    byte[] newer = good.clone();
    newer[0] = 99;
    try (IndexDriver index = new IndexDriver(dir)) {
      index.feed("k", new byte[0]);
      index.feed("k", newer);
      index.feed("k", Arrays.copyOf(good, good.length - 1));
      assertThat(index.view().takenOffset()).as("they are dealt with").isEqualTo(2);
      index.feed(e1.batch(new Prompt("a").stored(Place.of("GPU", 0))));
      assertThat(index.count(Outcome.UNDECODABLE)).isEqualTo(3);
      assertThat(index.holders("a")).isEqualTo("e1/0/GPU");
    }
  }

  @Test
  void shouldStillAnswer_whenClosed() {
    IndexDriver index = new IndexDriver(dir);
    index.feed(new Engine("e1").batch(new Prompt("a").stored(Place.of("GPU", 0))));
    var view = index.view();
    assertThat(view.state()).isEqualTo(State.LIVE);
    assertThat(view.complete()).isTrue();
    index.close();
    assertThat(view.state()).isEqualTo(State.CLOSED);
    assertThat(io.kvindex.streams.fixture.Answers.text(view, "a")).isEqualTo("e1/0/GPU");
  }
}
