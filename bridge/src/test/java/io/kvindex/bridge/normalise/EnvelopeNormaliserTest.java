// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.normalise.NormalisedBatch.StreamNumber;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.sandbox.engine.StandardEvents;
import io.kvindex.sandbox.engine.StandardEvents.Stream;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EnvelopeNormaliserTest {

  private static final Stream GPU = stream("model", 2, null, null);
  private static final int[] TOKENS = {1, 2, 3, 4, 5, 6};

  /** Rolling hashes of the tokens, in blocks of two, and of each block by itself. */
  private static final long[] LOCAL = new SeqHash(1337).locals(TOKENS, 6, 2);

  private static final long[] SEQ = new SeqHash(1337).rolled(LOCAL);

  private final Normaliser normaliser =
      Normaliser.of(
          new Registration(
              new PublisherId("daemon", "acme", 0),
              "tcp://127.0.0.1:5557",
              null,
              SourceType.KV_EVENTS,
              new TableId("acme", "model", 2, HashProfile.XXH3_DEFAULT),
              List.of("adapter"),
              "registered-salt",
              SourceOptions.defaultFor(SourceType.KV_EVENTS),
              null));

  @Test
  void shouldSayWhoseBlocksAndInWhichOrder_whenTheEnvelopeDoes() {
    Stream other = stream("model", 2, "w8a8", "sql/1");
    NormalisedBatch batch =
        normalise(
            new StandardEvents()
                .stored(GPU, 41, 0L, null, null, SEQ[0])
                .stored(other, 7, 0L, null, null, SEQ[0])
                .removed(GPU, 42, null, SEQ[0])
                .cleared(other, 8));
    String gpu = "model/2///default/node+1/gpu/3/";
    String salted = "model/2/w8a8/sql%2F1/default/node+1/gpu/3/";
    assertThat(batch.numbers())
        .containsExactly(
            new StreamNumber(gpu, 41),
            new StreamNumber(salted, 7),
            new StreamNumber(gpu, 42),
            new StreamNumber(salted, 8));
    KvEvent.Stored plain = (KvEvent.Stored) batch.events().get(0);
    assertThat(plain.place().backendId()).isEqualTo(gpu);
    assertThat(plain.place().rank()).isEqualTo(3);
    assertThat(plain.place().medium()).isEqualTo("gpu");
    assertThat(plain.context())
        .isEqualTo(new StatedContext("adapter", null, "registered-salt", null));
    assertThat(((KvEvent.Stored) batch.events().get(1)).context())
        .isEqualTo(new StatedContext("sql/1", null, "w8a8", null));
    assertThat(((KvEvent.Removed) batch.events().get(2)).place()).isEqualTo(plain.place());
    assertThat(batch.events().get(3)).isEqualTo(new KvEvent.Cleared(3, ClearScope.STREAM));
    assertThat(batch.skipped()).isEmpty();
  }

  @Test
  void shouldPlaceBlocksByDepthOrParent_whenEitherIsThere() {
    NormalisedBatch batch =
        normalise(
            new StandardEvents()
                .stored(GPU, 1, 0L, null, null, SEQ[0])
                .stored(GPU, 2, null, SEQ[0], null, SEQ[1])
                .stored(GPU, 3, 2L, null, null, SEQ[2])
                .stored(GPU, 4, 0L, 0L, null, SEQ[0]));
    assertThat(batch.events())
        .extracting(event -> ((KvEvent.Stored) event).parent())
        .containsExactly(Parent.ROOT, Parent.of(SEQ[0]), Parent.UNKNOWN, Parent.ROOT);
    assertThat(batch.remarks()).isEmpty();
  }

  @Test
  void shouldRefuseAndCount_whenTheEventCanNotBePlaced() {
    NormalisedBatch batch =
        normalise(
            new StandardEvents()
                .stored(GPU, 1, null, null, null, SEQ[0])
                .stored(stream("other", 2, null, null), 1, 0L, null, null, SEQ[0])
                .stored(stream("model", 16, null, null), 1, 0L, null, null, SEQ[0])
                .stored(GPU, 2, 0L, null, null));
    assertThat(batch.events()).isEmpty();
    assertThat(batch.numbers()).isEmpty();
    assertThat(batch.skipped())
        .isEqualTo(
            Map.of(
                SkipReason.NO_POSITION,
                1,
                SkipReason.OTHER_MODEL,
                1,
                SkipReason.BLOCK_SIZE_MISMATCH,
                1,
                SkipReason.NO_HASHES,
                1));
    assertThat(batch.problem()).startsWith("events have block_size 16,");
    Stream other = stream("model", 16, null, null);
    assertThat(normalise(new StandardEvents().removed(GPU, 3, null, SEQ[0])).problem()).isNotNull();
    assertThat(normalise(new StandardEvents().stored(GPU, 4, 0L, null, null, SEQ[0])).problem())
        .as("some have the registered size")
        .isNull();
    NormalisedBatch foreign =
        normalise(new StandardEvents().stored(other, 2, 0L, null, null, SEQ[0]));
    assertThat(foreign.skipped()).isEqualTo(Map.of(SkipReason.BLOCK_SIZE_MISMATCH, 1));
    assertThat(foreign.problem()).as("of another table").isNull();
  }

  @Test
  void shouldCountAndBelieveTheHash_whenTheDepthContradictsIt() {
    NormalisedBatch batch =
        normalise(
            new StandardEvents()
                .stored(GPU, 1, 0L, null, null, SEQ[0], SEQ[1])
                .stored(GPU, 2, 5L, SEQ[1], null, SEQ[2]) // stands at 2
                .removed(GPU, 3, 7L, SEQ[2])
                .removed(GPU, 4, 1L, SEQ[1])
                .stored(GPU, 5, 0L, SEQ[0], null, SEQ[1])); // a parent, so it can not be the first
    assertThat(batch.remarks()).isEqualTo(Map.of(Remark.INDEX_MISMATCH, 3));
    assertThat(batch.events()).hasSize(5);
    assertThat(((KvEvent.Stored) batch.events().get(1)).parent()).isEqualTo(Parent.of(SEQ[1]));
  }

  @Test
  void shouldUseHashesAsTheyAre_whenTheyAreTheStandardsOfTheTokens() {
    NormalisedBatch batch =
        normalise(
            new StandardEvents()
                .stored(GPU, 1, 0L, null, TOKENS, SEQ)
                .stored(GPU, 2, null, SEQ[0], new int[] {3, 4}, SEQ[1]));
    assertThat(batch.events())
        .extracting(event -> ((KvEvent.Stored) event).localHashes())
        .containsOnly(Hashes.EMPTY);
    assertThat(batch.remarks()).isEmpty();
  }

  @Test
  void shouldGoByTheTokens_whenHashesAreOfTheEnginesOwnMaking() {
    NormalisedBatch batch =
        normalise(
            new StandardEvents()
                .stored(GPU, 1, 0L, null, TOKENS, 101, 102, 103)
                .stored(GPU, 2, null, 101L, new int[] {9, 9}, 104)
                .stored(GPU, 3, 0L, null, new int[] {1}, 105));
    assertThat(((KvEvent.Stored) batch.events().get(0)).localHashes()).isEqualTo(Hashes.of(LOCAL));
    assertThat(((KvEvent.Stored) batch.events().get(0)).engineHashes())
        .isEqualTo(Hashes.of(101, 102, 103));
    assertThat(((KvEvent.Stored) batch.events().get(1)).parent()).isEqualTo(Parent.of(101));
    assertThat(((KvEvent.Stored) batch.events().get(1)).localHashes().size()).isEqualTo(1);
    assertThat(batch.remarks())
        .isEqualTo(Map.of(Remark.NON_STANDARD_HASH, 2, Remark.TOKENS_UNUSABLE, 1));
  }

  private NormalisedBatch normalise(StandardEvents events) {
    return normaliser.normalise((EngineBatch) EngineDecoder.STANDARD.decode(events.batch(), 2));
  }

  private static Stream stream(
      String model, int blockSize, @Nullable String salt, @Nullable String lora) {
    return new Stream(model, blockSize, salt, lora, "node 1", "gpu", 3);
  }
}
