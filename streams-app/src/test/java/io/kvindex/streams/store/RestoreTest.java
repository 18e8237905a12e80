// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.Place;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fixture.RowStore;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is known after the store was opened again or rebuilt from its changelog. */
class RestoreTest {

  private static final Place GPU = Place.of("GPU", 0);
  private static final Place SECOND = new Place("GPU", 0, 1, null);
  private static final Place CPU = Place.of("CPU", 0);

  @TempDir private Path dir;
  private final Engine e1 = new Engine("e1");
  private final Engine e2 = new Engine("e2");
  private final Prompt abc = new Prompt("abc");
  private final List<KeyValue<byte[], byte[]>> log = new ArrayList<>();

  private RowStore open(String name) {
    return new RowStore(dir.resolve(name), log).activate(Limits.DEFAULT);
  }

  @Test
  void shouldKnowWhatItKnew_whenOpenedAgain() {
    var orphan = e2.batch(new Prompt("xyz").stored(GPU, 1, 3), new Gap(1, 1));
    e2.batch();
    var early = e2.batch(new Prompt("xq").stored(GPU));
    try (RowStore index = open("a")) {
      index.take(e1.batch(abc.stored(GPU)), 1);
      index.take(orphan, 1);
      index.take(early, 1);
    }
    try (RowStore again = open("a")) {
      assertThat(Answers.text(again.view(), "abc")).isEqualTo("e1/0/GPU | e1/0/GPU | e1/0/GPU");
      assertThat(Objects.requireNonNull(again.view().position(e2.stream())).gaps()).isEqualTo(1);
      again.take(e1.batch(new Prompt("xyz").stored(GPU, 0, 1)), 1);
      assertThat(Answers.text(again.view(), "xyz")).isEqualTo("e1/0/GPU | e2/0/GPU | e2/0/GPU");
      again.take(e1.batch(abc.tokenless(CPU, 0, 1), abc.removed(GPU, 0, 3)), 1);
      assertThat(Answers.text(again.view(), "abc")).isEqualTo("e1/0/CPU");
      again.take(e1.batch(), 31_002);
      assertThat(Answers.text(again.view(), "xq")).isEqualTo("e1/0/GPU,e2/0/GPU | e2/0/GPU");
      assertThat(Objects.requireNonNull(again.view().position(e2.stream())).gaps()).isEqualTo(2);
    }
  }

  /** Else a replica would wait for a partition that went elsewhere again, and never be ready. */
  @Test
  void shouldSayThatItIsClosed_whenNothingWasLoadedYet() {
    PartitionView view;
    try (RowStore cold = new RowStore(dir.resolve("b"), log)) {
      view = cold.look();
      assertThat(view.state()).isNotEqualTo(State.CLOSED);
    }
    assertThat(view.state()).isEqualTo(State.CLOSED);
    assertThat(view.complete()).isFalse();
  }

  @Test
  void shouldKnowHowFarItIs_whenNothingCameOfTheLastRecords() {
    var stored = e1.batch(abc.stored(GPU));
    try (RowStore index = open("a")) {
      index.take(stored, 1);
      index.take(stored, 1);
      index.tidy(1);
    }
    try (RowStore copy = new RowStore(dir.resolve("b"), log).restore(log, 0, 3)) {
      assertThat(copy.table().view().appliedOffset()).isOne();
    }
  }

  /** Any of what they hold may have been removed by a record that is gone. */
  @Test
  void shouldDegradeAll_whenRecordsWereDeletedUnread() {
    try (RowStore index = open("a")) {
      index.take(e1.batch(abc.stored(GPU)), 1);
      index.take(e2.batch(abc.stored(CPU)), 1);
      assertThat(index.view().degradedPublishers()).isEmpty();
      index.missRecords();
      assertThat(index.view().degradedPublishers()).hasSize(2);
      assertThat(Answers.text(index.view(), "abc")).startsWith("e1/0/GPU,e2/0/CPU");
    }
    try (RowStore again = open("a")) {
      assertThat(again.view().degradedPublishers()).hasSize(2);
    }
  }

  @Test
  void shouldThrowRowsAway_whenDeletionsMayBeMissing() {
    try (RowStore index = open("a")) {
      index.take(e1.batch(abc.stored(GPU)), 1);
    }
    StoreFaults faults = new StoreFaults(() -> {});
    try (RowStore copy = new RowStore(dir.resolve("b"), log, false, faults)) {
      copy.restore(log, 0, 3);
      faults.outdated(0);
      assertThatThrownBy(() -> copy.restore(log, 0, 3)).isInstanceOf(TaskCorruptedException.class);
    }
    assertThatThrownBy(() -> new RowStore(dir.resolve("b"), log, false, faults))
        .as("the same rows again")
        .isInstanceOf(TaskCorruptedException.class);
    try (RowStore anew = new RowStore(dir.resolve("c"), log, false, faults)) {
      anew.restore(log, 0, 3);
      assertThat(Answers.text(anew.view(), "abc")).isEqualTo("e1/0/GPU | e1/0/GPU | e1/0/GPU");
    }
  }

  @Test
  void shouldRestore_whenCompactionMovedPublishersBehindTheirOwners() {
    Engine grouped = new Engine("g");
    try (RowStore index = open("a");
        RowStore cold = new RowStore(dir.resolve("b"), new ArrayList<>())) {
      index.take(e1.batch(abc.stored(CPU), abc.stored(GPU)), 1);
      index.take(grouped.batch(abc.stored(GPU, 0, 2), abc.stored(SECOND, 0, 1)), 1);
      index.take(grouped.batch(abc.stored(CPU)), 1);
      index.take(e1.batch(new Cleared(0, ClearScope.DEVICE)), 1);
      index.take(grouped.batch(new Cleared(5, ClearScope.DEVICE)), 1);
      List<KeyValue<byte[], byte[]>> left = RowStore.compacted(log, log.size(), false);
      cold.table(); // from here on rows are folded one by one
      cold.restore(left, 0, 3);
      assertThat(Answers.text(cold.view(), "abc"))
          .isEqualTo(Answers.text(index.view(), "abc"))
          .isEqualTo("e1/0/CPU,g/0/GPU | e1/0/CPU | e1/0/CPU");
    }
  }

  @Test
  void shouldFollow_whenCompactionMovedANewGroupBehindItsBlocks() {
    try (RowStore index = open("a");
        RowStore standby = new RowStore(dir.resolve("b"), new ArrayList<>())) {
      index.take(e1.batch(abc.stored(GPU)), 1);
      standby.table();
      standby.restore(log, 0, 3);
      assertThat(Answers.text(standby.view(), "abc")).isEqualTo("e1/0/GPU | e1/0/GPU | e1/0/GPU");
      int followed = log.size();
      index.take(e1.batch(abc.stored(SECOND, 0, 2)), 1);
      index.take(e1.batch(new Cleared(5, ClearScope.DEVICE)), 1);
      assertFollows(standby, index, followed);
    }
  }

  @Test
  void shouldFollow_whenCompactionMovedANewLifeBehindItsBlocks() {
    try (RowStore index = open("a");
        RowStore standby = new RowStore(dir.resolve("b"), new ArrayList<>())) {
      index.take(e1.batch(abc.stored(GPU), abc.stored(SECOND)), 1);
      standby.table();
      standby.restore(log, 0, 3);
      int followed = log.size();
      index.take(e1.restart().batch(abc.stored(GPU, 0, 2)), 1);
      index.take(e1.batch(new Cleared(5, ClearScope.DEVICE)), 1);
      assertFollows(standby, index, followed);
    }
  }

  /** What is left of the log behind {@code followed} takes the standby where the index is. */
  private void assertFollows(RowStore standby, RowStore index, int followed) {
    List<KeyValue<byte[], byte[]>> rest = log.subList(followed, log.size());
    standby.restore(RowStore.compacted(rest, rest.size(), false), 0, 2);
    assertThat(Answers.text(standby.view(), "abc"))
        .isEqualTo(Answers.text(index.view(), "abc"))
        .isEqualTo("e1/0/GPU | e1/0/GPU");
  }

  @Test
  void shouldRestore_whenCompactionMovedStreamsBehindWhatTheyHold() {
    e2.batch();
    var third = e2.batch(abc.stored(CPU));
    var fourth = e2.batch(new Prompt("b").stored(CPU));
    e2.batch();
    var sixth = e2.batch(new Prompt("z").stored(CPU));
    Engine sameAgain = new Engine("e2");
    try (RowStore index = open("a");
        RowStore cold = new RowStore(dir.resolve("b"), new ArrayList<>())) {
      index.take(fourth, 1);
      index.take(third, 1);
      index.take(sixth, 1);
      index.take(sameAgain.batch(), 1);
      index.take(sameAgain.batch(), 1);
      List<KeyValue<byte[], byte[]>> left = RowStore.compacted(log, log.size(), false);
      cold.table(); // from here on rows are folded one by one
      cold.restore(left, 0, 2);
      assertThat(cold.view().state()).isEqualTo(State.RESTORING);
      assertThat(cold.table().streams().heldRecords()).isEqualTo(1);
      cold.activate(Limits.DEFAULT);
      cold.take(e1.batch(), 40_000);
      assertThat(Answers.text(cold.view(), "z")).isEqualTo("e2/0/CPU");
      assertThat(Answers.text(cold.view(), "b")).isEqualTo("e2/0/CPU");
    }
  }

  /** Whoever waited for an event reads a copy at any moment. */
  @Test
  void shouldShowAnEventsBlocks_beforeItShowsTheEvent() {
    try (RowStore index = open("a");
        RowStore standby = new RowStore(dir.resolve("b"), new ArrayList<>())) {
      index.take(e1.batch(abc.stored(GPU)), 1);
      index.take(e1.batch(new Prompt("abz").stored(GPU)), 1);
      PartitionView seen = standby.view();
      List<String> moments = new ArrayList<>();
      standby.restoreWatched(
          log,
          () -> {
            boolean shows = seen.position(e1.stream()) != null || seen.appliedOffset() >= 0;
            moments.add(shows ? Answers.text(seen, "abz") : "nothing yet");
          });
      assertThat(Set.copyOf(moments))
          .containsExactlyInAnyOrder("nothing yet", "e1/0/GPU | e1/0/GPU | e1/0/GPU");
    }
  }

  @Test
  void shouldForgetMeanings_whenTheyWereUnheldBeforeItWasOpened() {
    Limits few = new Limits(10, java.time.Duration.ofSeconds(30), 1000, 1000, 2, 64);
    Prompt longer = new Prompt("abcdefgh");
    try (RowStore index = open("a")) {
      index.take(e1.batch(longer.stored(GPU)), 1);
      index.take(e1.batch(longer.removed(GPU, 3, 8)), 1);
    }
    try (RowStore again = new RowStore(dir.resolve("a"), log).activate(few)) {
      again.tidy(100);
      again.take(e1.batch(), 1);
      long contents =
          RowStore.compacted(log, log.size(), true).stream()
              .filter(row -> row.key[0] == io.kvindex.streams.row.RowKind.CONTENT)
              .count();
      assertThat(contents).isEqualTo(5);
      assertThat(Answers.text(again.view(), "abc")).isEqualTo("e1/0/GPU | e1/0/GPU | e1/0/GPU");
    }
  }
}
