// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.Place;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.view.StreamPosition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whose turn it is: order, duplicates, parts, waiting and giving up waiting. */
class SequencingTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);
  private static final Limits THREE_HELD =
      new Limits(3, Duration.ofSeconds(30), 1000, 1000, 1000, 50_000);

  private final Engine e1 = new Engine("e1");
  private final Prompt abc = new Prompt("abc");

  private static StreamPosition position(IndexDriver index, Engine engine) {
    return Objects.requireNonNull(index.view().position(engine.stream()));
  }

  @Test
  void shouldAnswerAtOnce_whenRecordsComeInOrder() {
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(abc.stored(GPU, 0, 2)));
    assertThat(index.holders("abc")).isEqualTo("e1/0/GPU | e1/0/GPU");
    index.feed(e1.batch(abc.stored(GPU, 2, 3)));
    assertThat(index.holders("abc")).isEqualTo("e1/0/GPU | e1/0/GPU | e1/0/GPU");
    assertThat(index.holders("xbc")).isEmpty();
    index.feed(e1.batch(abc.removed(GPU, 1, 2)));
    assertThat(index.holders("abc")).isEqualTo("e1/0/GPU");
    assertThat(index.count(Outcome.APPLIED)).isEqualTo(3);
    assertThat(index.count(Outcome.BLOCKS_STORED)).isEqualTo(3);
    assertThat(index.count(Outcome.BLOCKS_REMOVED)).isEqualTo(1);
    assertThat(index.view().appliedOffset()).isEqualTo(2);
    assertThat(position(index, e1).covers(2)).isTrue();
    assertThat(position(index, e1).degraded()).isFalse();
  }

  /** A copy must not seem to lack what nothing came of, nor have it read again. */
  @Test
  void shouldSayHowFarItIs_whenNothingCameOfTheLastRecords() {
    EventRecord stored = e1.batch(abc.stored(GPU));
    IndexDriver index = new IndexDriver();
    index.feed(stored, stored, stored);
    index.feed("rubbish", new byte[] {99});
    assertThat(index.view().appliedOffset()).isEqualTo(3);
    assertThat(index.isCut()).isFalse();
  }

  @Test
  void shouldChangeNothing_whenRecordComesAgain() {
    EventRecord stored = e1.batch(abc.stored(GPU));
    EventRecord removed = e1.batch(abc.removed(GPU, 0, 3));
    IndexDriver index = new IndexDriver();
    index.feed(stored, stored, removed, stored, removed);
    assertThat(index.holders("abc")).isEmpty();
    assertThat(index.count(Outcome.DUPLICATE)).isEqualTo(3);
    assertThat(index.view().appliedOffset()).isEqualTo(4);
    assertThat(index.residencies()).isZero();
  }

  @Test
  void shouldCountOnce_whenBatchComesInParts() {
    EventRecord first = e1.part(0, false, abc.stored(GPU, 0, 1));
    EventRecord second = e1.part(1, false, abc.stored(GPU, 1, 2));
    EventRecord third = e1.part(2, true, abc.stored(GPU, 2, 3));
    EventRecord next = e1.batch(abc.removed(GPU, 2, 3));
    IndexDriver index = new IndexDriver();
    index.feed(first);
    assertThat(position(index, e1).covers(0)).isFalse();
    index.feed(next, third, first, second);
    assertThat(index.holders("abc")).isEqualTo("e1/0/GPU | e1/0/GPU");
    assertThat(position(index, e1).covers(1)).isTrue();
    assertThat(index.count(Outcome.HELD_BACK)).isEqualTo(2);
    assertThat(index.count(Outcome.DUPLICATE)).isEqualTo(1);
    assertThat(index.held()).isZero();
  }

  @Test
  void shouldEndLikeInOrder_whenRecordsArriveInAnyOrder() {
    for (long seed = 1; seed <= 5; seed++) {
      Random random = new Random(seed);
      Engine engine = new Engine("e1");
      List<EventRecord> log = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        Prompt prompt = new Prompt("p" + (char) ('a' + random.nextInt(4)) + "xyz");
        int from = random.nextInt(4);
        KvEvent event =
            random.nextInt(3) > 0 ? prompt.stored(GPU, 0, from + 1) : prompt.removed(GPU, 0, from);
        log.add(engine.batch(event));
      }
      List<EventRecord> shuffled = new ArrayList<>(log.subList(1, log.size()));
      Collections.shuffle(shuffled, random);
      shuffled.add(random.nextInt(shuffled.size()), log.get(0));
      IndexDriver ordered = new IndexDriver();
      IndexDriver mixed = new IndexDriver();
      ordered.feed(log.toArray(EventRecord[]::new));
      mixed.feed(shuffled.toArray(EventRecord[]::new));
      for (char c = 'a'; c <= 'd'; c++) {
        assertThat(mixed.holders("p" + c + "xyz"))
            .as("seed %d", seed)
            .isEqualTo(ordered.holders("p" + c + "xyz"));
      }
      assertThat(mixed.held()).isZero();
      assertThat(mixed.residencies()).isEqualTo(ordered.residencies());
      assertThat(mixed.count(Outcome.GAP)).isZero();
    }
  }

  @Test
  void shouldGoOnWithGap_whenTooManyWait() {
    e1.batch();
    EventRecord lost = e1.batch(abc.stored(GPU, 2, 3));
    EventRecord[] later = new EventRecord[4];
    for (int i = 0; i < later.length; i++) {
      later[i] = e1.batch(new Prompt("" + (char) ('p' + i)).stored(GPU));
    }
    IndexDriver index = new IndexDriver(THREE_HELD);
    index.feed(new Engine("e1").batch(abc.stored(GPU, 0, 1)));
    index.feed(later[0], later[1], later[2]);
    assertThat(index.holders("p")).isEmpty();
    assertThat(index.count(Outcome.GAP)).isZero();
    index.feed(later[3]);
    for (String prompt : List.of("p", "q", "r", "s")) {
      assertThat(index.holders(prompt)).isEqualTo("e1/0/GPU");
    }
    assertThat(index.count(Outcome.GAP)).isEqualTo(1);
    assertThat(position(index, e1).degraded()).isTrue();
    assertThat(position(index, e1).sourceOffset()).isEqualTo(4);
    index.feed(lost);
    assertThat(index.count(Outcome.DUPLICATE)).isEqualTo(1);
  }

  @Test
  void shouldGoOnWithGap_whenLogsTimeHasPassed() {
    EventRecord first = e1.batch(abc.stored(GPU, 0, 1));
    e1.batch();
    EventRecord third = e1.batch(abc.stored(GPU, 1, 2));
    Engine other = new Engine("e2");
    IndexDriver index = new IndexDriver();
    index.feed(first, third);
    index.pass(Duration.ofSeconds(30)).feed(other.batch());
    assertThat(index.holders("ab")).isEqualTo("e1/0/GPU");
    index.pass(Duration.ofMillis(1)).feed(other.batch());
    assertThat(index.holders("ab")).isEqualTo("e1/0/GPU | e1/0/GPU");
    assertThat(position(index, e1).gaps()).isEqualTo(1);
    assertThat(position(index, e1).sourceOffset())
        .as("a copy shows it once it has what ended the wait")
        .isEqualTo(3);
    assertThat(position(index, other).gaps()).isZero();
    assertThat(index.held()).isZero();
  }

  @Test
  void shouldNotReviveOldLife_whenItsRecordsWereStillWaiting() {
    EventRecord opened = e1.batch();
    e1.batch();
    EventRecord waiting = e1.batch(abc.stored(GPU));
    e1.restart();
    for (int i = 0; i < 5; i++) {
      e1.batch();
    }
    EventRecord early = e1.batch(new Prompt("q").stored(GPU));
    Engine other = new Engine("e2");
    IndexDriver index = new IndexDriver();
    index.feed(opened, waiting, early);
    index.pass(Duration.ofSeconds(31)).feed(other.batch());
    index.pass(Duration.ofSeconds(31)).feed(other.batch());
    assertThat(index.holders("abc")).isEmpty();
    assertThat(index.holders("q")).isEqualTo("e1/0/GPU");
    assertThat(position(index, e1).incarnation()).isEqualTo(e1.life());
    assertThat(position(index, e1).gaps()).isEqualTo(1);
    assertThat(index.held()).isZero();
    assertThat(index.count(Outcome.STALE_INCARNATION)).isEqualTo(1);
  }

  /** What a bridge sends that took over from one whose last acknowledgements nobody heard. */
  @Test
  void shouldGoOnAtOnceWithOneGap_whenTheSenderMissesWhatTheLogHasAndDeclaresTheRest() {
    EventRecord[] sent = new EventRecord[8];
    for (int i = 0; i < sent.length; i++) {
      sent[i] = e1.batch(new Prompt("" + (char) ('p' + i)).stored(GPU));
    }
    IndexDriver index = new IndexDriver();
    index.feed(sent[0], sent[1], sent[2], sent[3]);
    index.feed(at(6, 1L, new Gap(2, 5), abc.stored(GPU)));
    assertThat(index.holders("abc")).as("nothing waits").isNotEmpty();
    assertThat(index.view().heldRecords()).isZero();
    assertThat(position(index, e1).gaps()).isEqualTo(1);
    assertThat(index.count(Outcome.GAP)).isEqualTo(1);
    index.feed(sent[5], at(7, 6L));
    assertThat(position(index, e1).lastWhole()).isEqualTo(7);
    assertThat(position(index, e1).gaps()).isEqualTo(1);
  }

  @Test
  void shouldNotCallItAGap_whenTheLogHasAllThatTheSenderMisses() {
    EventRecord[] sent = new EventRecord[6];
    for (int i = 0; i < sent.length; i++) {
      sent[i] = e1.batch();
    }
    IndexDriver index = new IndexDriver();
    index.feed(sent).feed(at(6, 1L, new Gap(2, 5), abc.stored(GPU)));
    assertThat(index.holders("abc")).isNotEmpty();
    assertThat(position(index, e1).degraded()).isFalse();
    assertThat(index.count(Outcome.GAP)).isZero();
    index.feed(at(7, 6L, new Gap(7, 7)));
    assertThat(position(index, e1).gaps()).as("a batch nobody could read").isEqualTo(1);
  }

  @Test
  void shouldWait_whenThePredecessorNamedIsNotThereOrNotWhole() {
    IndexDriver index = new IndexDriver();
    index.feed(e1.batch(), at(3, 2L, abc.stored(GPU)));
    assertThat(index.holders("abc")).isEmpty();
    index.feed(e1.part(0, false), at(2, 0L));
    assertThat(position(index, e1).last()).isEqualTo(new Position(1, 0, false));
    index.feed(e1.part(1, true), at(2, 1L));
    assertThat(index.holders("abc")).isNotEmpty();
    assertThat(position(index, e1).degraded()).isFalse();
  }

  @Test
  void shouldOrderUnsigned_whenNumbersAreBeyondHalf() {
    Position last = Position.whole(-2);
    assertThat(Sequencer.follows(last, Position.whole(-1), Long.MAX_VALUE)).isTrue();
    assertThat(Sequencer.follows(last, Position.whole(-1), -1L)).isFalse();
    assertThat(Sequencer.follows(Position.whole(5), Position.whole(-1), -2L)).isFalse();
  }

  private EventRecord at(long id, @Nullable Long after, KvEvent... events) {
    EventRecord like = new Engine("e1").batch(events);
    return new EventRecord(
        like.table(),
        like.stream(),
        like.type(),
        like.traits(),
        like.incarnation(),
        Position.whole(id),
        after,
        0,
        like.events());
  }
}
