// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.KvEvent.Cleared;
import io.kvindex.model.event.KvEvent.Gap;
import io.kvindex.model.event.KvEvent.Removed;
import io.kvindex.model.event.KvEvent.Retired;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Publishers of the standard: several streams, each with its own numbers and its own cache. */
class NumberedStreamTest {

  private static final PublisherId DAEMON = new PublisherId("daemon", "default", 0);
  private static final String ONE = "model/2///default/node-1/gpu/0/";
  private static final String TWO = "model/2///default/node-2/gpu/0/";

  private static final SourceTraits GPU_ONLY = SourceTraits.defaultFor(SourceType.KV_EVENTS);

  /** Only the name of the medium matters: what the streams' blocks are on outlives the process. */
  private static final SourceTraits KEPT = new SourceTraits(GPU_ONLY.copies(), Set.of("GPU"), 0, 1);

  private static final String EVERYWHERE = "daemon/0/gpu | daemon/0/gpu | daemon/0/gpu";

  private final Prompt abc = new Prompt("abc");

  @Test
  void shouldReachExactlyItsOwnBlocks_whenAStreamRemovesOrClears() {
    IndexDriver index = new IndexDriver();
    index.feed(record(ONE, 1, 5, null, byHash(ONE, 0)), record(TWO, 1, 900, null, byHash(TWO, 0)));
    index.feed(record(ONE, 1, 6, 5L, removed(ONE, 2)));
    assertThat(index.holders("abc")).isEqualTo(EVERYWHERE); // the other still has it
    index.feed(record(TWO, 1, 901, 900L, new Cleared(0, ClearScope.STREAM)));
    assertThat(index.holders("abc")).isEqualTo("daemon/0/gpu | daemon/0/gpu");
  }

  @Test
  void shouldNeedNeitherParentNorOrder_whenHashesNamePrefixes() {
    IndexDriver index = new IndexDriver();
    index.feed(record(ONE, 1, 5, null, byHash(ONE, 2)), record(ONE, 1, 6, 5L, byHash(ONE, 0)));
    assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
    assertThat(index.count(Outcome.ORPHANED)).isZero();
  }

  @Test
  void shouldGoByTheTokens_whenHashesAreMereNames() {
    IndexDriver index = new IndexDriver();
    Stored named = abc.stored(new Place("gpu", 0, 0, ONE));
    index.feed(record(ONE, 1, 5, null, named));
    assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
    index.feed(record(ONE, 1, 6, 5L, abc.removed(new Place("gpu", 0, 0, ONE), 1, 3)));
    assertThat(index.holders("abc")).isEqualTo("daemon/0/gpu");
  }

  @Test
  void shouldFenceAllStreams_whenANewLifeOfThePublisherBegins() {
    IndexDriver index = new IndexDriver();
    index.feed(
        record(ONE, 1, 5, null, byHash(ONE, 0)),
        record(TWO, 1, 900, null, byHash(TWO, 0)),
        record("", 1, 0, null, new Gap(7, 8)));
    assertThat(index.view().degradedPublishers()).containsExactly(DAEMON);
    index.feed(
        EventRecord.opening(
            Engine.TABLE,
            StreamId.of(DAEMON),
            SourceType.KV_EVENTS,
            SourceTraits.defaultFor(SourceType.KV_EVENTS),
            new Incarnation(1, 2, 0),
            false));
    assertThat(index.holders("abc")).isEmpty();
    assertThat(index.view().degradedPublishers()).isEmpty();
    index.feed(record(TWO, 1, 901, 900L, byHash(TWO, 0)), record(TWO, 2, 1, null, byHash(TWO, 0)));
    assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
  }

  @Test
  void shouldForgetWhatAStreamLacked_whenANewLifeBeginsWithoutIt() {
    IndexDriver index = new IndexDriver();
    makeHole(index, GPU_ONLY);
    assertThat(index.view().degradedPublishers()).containsExactly(DAEMON);
    index.feed(record("", 1, 1, 0L, new Gap(7, 8)), opening(new Incarnation(1, 2, 0), GPU_ONLY));
    assertThat(index.view().degradedPublishers()).isEmpty();
    assertThat(gaps(index, ONE)).isZero();
  }

  @Test
  void shouldForgetWhatAStreamLacked_whenThePublisherIsUnregistered() {
    IndexDriver index = new IndexDriver();
    makeHole(index, GPU_ONLY);
    index.feed(like("", new Incarnation(9, 9, 0), GPU_ONLY, 0, null, new Retired()));
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  @Test
  void shouldForgetWhatAStreamLacked_whenItIsRetiredWithinItsLife() {
    IndexDriver index = new IndexDriver();
    makeHole(index, GPU_ONLY);
    index.feed(record("", 1, 0, null, new Retired()));
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  @Test
  void shouldStayDegraded_whenBlocksOfTheStreamOutliveTheLife() {
    IndexDriver index = new IndexDriver();
    makeHole(index, KEPT);
    index.feed(opening(new Incarnation(1, 2, 0), KEPT));
    assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
    assertThat(index.view().degradedPublishers()).containsExactly(DAEMON);
    index.feed(opening(new Incarnation(2, 3, 0), KEPT));
    assertThat(index.holders("abc")).as("another registration keeps nothing").isEmpty();
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  @Test
  void shouldBeDegraded_whenRecordsOfAKeptStreamStillWaitedAsItsLifeEnded() {
    Incarnation first = new Incarnation(1, 1, 0);
    IndexDriver index = new IndexDriver();
    index.feed(
        like(ONE, first, KEPT, 5, null, byHash(ONE, 0)),
        like(ONE, first, KEPT, 8, 7L, removed(ONE, 0)));
    assertThat(index.view().degradedPublishers()).isEmpty();
    index.feed(opening(new Incarnation(1, 2, 0), KEPT));
    index.pass(Duration.ofMinutes(1));
    index.feed(like("", new Incarnation(1, 2, 0), KEPT, 0, null));
    assertThat(index.view().heldRecords()).isZero();
    assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
    assertThat(index.view().degradedPublishers()).containsExactly(DAEMON);
  }

  @Test
  void shouldForgetWhatItLacked_whenTheStreamItselfIsCleared() {
    IndexDriver index = new IndexDriver();
    makeHole(index, GPU_ONLY);
    index.feed(record(TWO, 1, 900, null, byHash(TWO, 0)));
    index.feed(record(TWO, 1, 901, 900L, new Cleared(0, ClearScope.STREAM)));
    assertThat(index.view().degradedPublishers()).as("the other one's").containsExactly(DAEMON);
    index.feed(record(ONE, 1, 9, 8L, new Cleared(0, ClearScope.STREAM)));
    assertThat(index.holders("abc")).isEmpty();
    assertThat(index.view().degradedPublishers()).isEmpty();
  }

  /** Blocks, then a record whose predecessor never comes. */
  private void makeHole(IndexDriver index, SourceTraits traits) {
    Incarnation life = new Incarnation(1, 1, 0);
    index.feed(like(ONE, life, traits, 5, null, byHash(ONE, 0)), like(ONE, life, traits, 8, 7L));
    index.pass(Duration.ofMinutes(1)).feed(new Engine("other").batch());
    assertThat(gaps(index, ONE)).isEqualTo(1);
  }

  private static long gaps(IndexDriver index, String sub) {
    return Objects.requireNonNull(index.view().position(new StreamId(DAEMON, sub))).gaps();
  }

  private static EventRecord opening(Incarnation life, SourceTraits traits) {
    return EventRecord.opening(
        Engine.TABLE, StreamId.of(DAEMON), SourceType.KV_EVENTS, traits, life, false);
  }

  private KvEvent byHash(String sub, int from) {
    return new Stored(
        new Place("gpu", 0, 0, sub),
        StatedContext.NONE,
        from == 0 ? Parent.ROOT : Parent.UNKNOWN,
        Hashes.of(abc.seqHashes()).slice(from, 3),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  private KvEvent removed(String sub, int from) {
    return new Removed(
        new Place("gpu", 0, 0, sub), Hashes.of(abc.seqHashes()).slice(from, 3), Hashes.EMPTY);
  }

  private static EventRecord record(
      String sub, long life, long id, @Nullable Long after, KvEvent event) {
    return like(sub, new Incarnation(1, life, 0), GPU_ONLY, id, after, event);
  }

  private static EventRecord like(
      String sub,
      Incarnation life,
      SourceTraits traits,
      long id,
      @Nullable Long after,
      KvEvent... events) {
    return new EventRecord(
        Engine.TABLE,
        new StreamId(DAEMON, sub),
        SourceType.KV_EVENTS,
        traits,
        life,
        Position.whole(id),
        after,
        0,
        List.of(events));
  }
}
