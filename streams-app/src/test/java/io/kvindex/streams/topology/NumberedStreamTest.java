// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

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
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.streams.apply.Outcome;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.IndexDriver;
import io.kvindex.streams.fixture.Prompt;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Publishers of the standard: several streams, each with its own numbers and its own cache. */
class NumberedStreamTest {

  private static final PublisherId DAEMON = new PublisherId("daemon", "default", 0);
  private static final String ONE = "model/2///default/node-1/gpu/0/";
  private static final String TWO = "model/2///default/node-2/gpu/0/";

  private static final String EVERYWHERE = "daemon/0/gpu | daemon/0/gpu | daemon/0/gpu";

  @TempDir private Path dir;
  private final Prompt abc = new Prompt("abc");

  @Test
  void shouldReachExactlyItsOwnBlocks_whenAStreamRemovesOrClears() {
    try (IndexDriver index = new IndexDriver(dir)) {
      index.feed(
          record(ONE, 1, 5, null, byHash(ONE, 0)), record(TWO, 1, 900, null, byHash(TWO, 0)));
      index.feed(record(ONE, 1, 6, 5L, removed(ONE, 2)));
      assertThat(index.holders("abc")).isEqualTo(EVERYWHERE); // the other still has it
      index.feed(record(TWO, 1, 901, 900L, new Cleared(0, ClearScope.STREAM)));
      assertThat(index.holders("abc")).isEqualTo("daemon/0/gpu | daemon/0/gpu");
    }
  }

  @Test
  void shouldNeedNeitherParentNorOrder_whenHashesNamePrefixes() {
    try (IndexDriver index = new IndexDriver(dir)) {
      index.feed(record(ONE, 1, 5, null, byHash(ONE, 2)), record(ONE, 1, 6, 5L, byHash(ONE, 0)));
      assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
      assertThat(index.count(Outcome.ORPHANED)).isZero();
    }
  }

  @Test
  void shouldGoByTheTokens_whenHashesAreMereNames() {
    try (IndexDriver index = new IndexDriver(dir)) {
      Stored named = abc.stored(new Place("gpu", 0, 0, ONE));
      index.feed(record(ONE, 1, 5, null, named));
      assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
      index.feed(record(ONE, 1, 6, 5L, abc.removed(new Place("gpu", 0, 0, ONE), 1, 3)));
      assertThat(index.holders("abc")).isEqualTo("daemon/0/gpu");
    }
  }

  @Test
  void shouldFenceAllStreams_whenANewLifeOfThePublisherBegins() {
    try (IndexDriver index = new IndexDriver(dir)) {
      index.feed(
          record(ONE, 1, 5, null, byHash(ONE, 0)),
          record(TWO, 1, 900, null, byHash(TWO, 0)),
          record("", 1, 0, null, new Gap(7, 8)));
      assertThat(index.view().degradedInstances()).containsExactly("daemon");
      index.feed(
          EventRecord.opening(
              Engine.TABLE,
              StreamId.of(DAEMON),
              SourceType.KV_EVENTS,
              SourceTraits.defaultFor(SourceType.KV_EVENTS),
              new Incarnation(1, 2, 0)));
      assertThat(index.holders("abc")).isEmpty();
      assertThat(index.view().degradedInstances()).isEmpty();
      index.feed(
          record(TWO, 1, 901, 900L, byHash(TWO, 0)), record(TWO, 2, 1, null, byHash(TWO, 0)));
      assertThat(index.holders("abc")).isEqualTo(EVERYWHERE);
    }
  }

  private KvEvent byHash(String sub, int from) {
    return new Stored(
        new Place("gpu", 0, 0, sub),
        StatedContext.NONE,
        from == 0 ? Parent.ROOT : Parent.UNKNOWN,
        Hashes.wrap(abc.seqHashes()).slice(from, 3),
        Hashes.EMPTY,
        Hashes.EMPTY);
  }

  private KvEvent removed(String sub, int from) {
    return new Removed(
        new Place("gpu", 0, 0, sub), Hashes.wrap(abc.seqHashes()).slice(from, 3), Hashes.EMPTY);
  }

  private static EventRecord record(
      String sub, long life, long id, @Nullable Long after, KvEvent event) {
    return new EventRecord(
        Engine.TABLE,
        new StreamId(DAEMON, sub),
        SourceType.KV_EVENTS,
        SourceTraits.defaultFor(SourceType.KV_EVENTS),
        new Incarnation(1, life, 0),
        Position.whole(id),
        after,
        0,
        List.of(event));
  }
}
