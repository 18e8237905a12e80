// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.msgpack.value.ValueFactory.newArray;
import static org.msgpack.value.ValueFactory.newBinary;
import static org.msgpack.value.ValueFactory.newFloat;
import static org.msgpack.value.ValueFactory.newInteger;
import static org.msgpack.value.ValueFactory.newMap;
import static org.msgpack.value.ValueFactory.newNil;
import static org.msgpack.value.ValueFactory.newString;

import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.Parent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;

/** Rules the samples do not show. Payloads come from an independent packer. */
class DecoderRulesTest {

  private static final EngineDecoder VLLM = EngineDecoder.forSource(SourceType.VLLM);
  private static final EngineDecoder SGLANG = EngineDecoder.forSource(SourceType.SGLANG);
  private static final Value NIL = newNil();
  private static final Value CLEARED = newArray(newString("AllBlocksCleared"));

  @Test
  void shouldReadTheBatch_whenItIsAMapInAnyOrder() {
    byte[] payload =
        pack(
            newMap(
                newString("unknown"), newArray(NIL),
                newString("data_parallel_rank"), newInteger(3),
                newString("events"), newArray(CLEARED),
                newInteger(1), newInteger(2),
                newString("ts"), newFloat(1.5)));
    EngineBatch batch = accepted(VLLM, payload);
    assertThat(batch.timestampMicros()).isEqualTo(1_500_000);
    assertThat(batch.rank()).isEqualTo(3);
    assertThat(batch.events()).containsExactly(new EngineEvent.Cleared(null));
  }

  @Test
  void shouldReject_whenTheMapLacksTimeOrEvents() {
    assertRejected(pack(newMap(newString("ts"), newInteger(1))), RejectReason.NOT_A_BATCH);
    assertRejected(pack(newMap(newString("events"), newArray())), RejectReason.NOT_A_BATCH);
    assertRejected(new byte[0], RejectReason.TRUNCATED);
    assertRejected(new byte[] {(byte) 0xc1}, RejectReason.NOT_MSGPACK);
  }

  @Test
  void shouldKnowNoTime_whenItIsNone() {
    for (Value time :
        List.of(
            newFloat(Double.NaN),
            newFloat(Double.NEGATIVE_INFINITY),
            newFloat(Double.POSITIVE_INFINITY),
            newFloat(1e300),
            newFloat(-1.5),
            newInteger(-1),
            newInteger(Long.MIN_VALUE),
            newInteger(0),
            NIL)) {
      EngineBatch batch = accepted(VLLM, pack(newArray(time, newArray(CLEARED))));
      assertThat(batch.timestampMicros()).as("%s", time).isZero();
      assertThat(batch.events()).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        1_760_000_000L,
        1_760_000_000_000L,
        1_760_000_000_000_000L,
        1_760_000_000_000_000_000L
      })
  void shouldTellTheUnitOfATimeByItsSize(long time) {
    for (Value value : List.of(newInteger(time), newFloat((double) time))) {
      EngineBatch batch = accepted(SGLANG, pack(newArray(value, newArray(CLEARED))));
      assertThat(batch.timestampMicros()).as("%s", value).isEqualTo(1_760_000_000_000_000L);
    }
  }

  @Test
  void shouldReject_whenTheRankIsImpossible() {
    Value none = newArray();
    assertRejected(pack(newArray(newInteger(1), none, newInteger(-1))), RejectReason.BAD_RANK);
    assertRejected(pack(newArray(newInteger(1), none, newString("0"))), RejectReason.BAD_RANK);
  }

  @ParameterizedTest
  @CsvSource({"4294967295, EXACT", "4294967296, UNUSABLE", "-1, UNUSABLE"})
  void shouldKeepTheBlock_whenATokenIsNoU32(long token, Fit fit) {
    EngineEvent.Stored stored = stored(VLLM, hashes(1), NIL, newArray(newInteger(token)), one());
    assertThat(stored.hashes()).isEqualTo(Hashes.of(1));
    assertThat(stored.tokens().fit()).isEqualTo(fit);
  }

  @Test
  void shouldNeverReadBeyondTheTokens_whenMoreAreAskedFor() {
    TokenIds flat = stored(VLLM, hashes(1), NIL, newArray(newInteger(1)), one()).tokens();
    assertThat(flat.first(1)).containsExactly(1);
    assertThatThrownBy(() -> flat.first(2)).isInstanceOf(IndexOutOfBoundsException.class);
    Value pairs = newArray(pair(1, 2));
    TokenIds paired = stored(SGLANG, hashes(1), NIL, pairs, one()).tokens();
    assertThat(paired.first(1)).containsExactly(1, 2);
    assertThatThrownBy(() -> paired.first(2)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void shouldMarkTokensUnusable_whenPairsDoNotOverlap() {
    Value pairs = newArray(pair(1, 2), pair(7, 3));
    assertThat(stored(SGLANG, hashes(1), NIL, pairs, newInteger(2)).tokens().fit())
        .isEqualTo(Fit.UNUSABLE);
    Value good = newArray(pair(1, 2), pair(2, 3));
    assertThat(stored(SGLANG, hashes(1), NIL, good, newInteger(2)).tokens())
        .satisfies(
            tokens -> {
              assertThat(tokens.isBigram()).isTrue();
              assertThat(tokens.fit()).isEqualTo(Fit.EXACT);
              assertThat(tokens.first(2)).containsExactly(1, 2, 3);
            });
  }

  @Test
  void shouldAgreeWithIntegers_whenHashesAreDigests() {
    byte[] digest =
        HexFormat.of().parseHex("db87cee52504ca5732bad49ddb1d5b8551c011c1891996d58aacae47f66585ed");
    Value hashes = newArray(newBinary(digest), newInteger(0x8aacae47f66585edL));
    EngineEvent.Stored stored = stored(VLLM, hashes, newBinary(digest), NIL, one());
    assertThat(stored.hashes()).isEqualTo(Hashes.of(0x8aacae47f66585edL, 0x8aacae47f66585edL));
    assertThat(stored.parent()).isEqualTo(Parent.of(0x8aacae47f66585edL));
  }

  @Test
  void shouldReadScopeByKey_whenNewerMembersAreSent() {
    Value event =
        newMap(
            newString("type"), newString("BlockRemoved"),
            newString("block_hashes"), hashes(1, 2),
            newString("medium"), newString("STORAGE"),
            newString("group_idx"), newInteger(2),
            newString("locality"), newString("REMOTE"),
            newString("ownership"), newString("tier-é"),
            newString("remaining_copy_counts"), newArray(newInteger(1)));
    assertThat(accepted(VLLM, batch(event)).events())
        .containsExactly(
            new EngineEvent.Removed(
                new CacheScope("STORAGE", 2, null, 0, "REMOTE", "tier-é"),
                Hashes.of(1, 2),
                Hashes.EMPTY)); // one count for two hashes says nothing
  }

  @Test
  void shouldReadTheOrigin_whenItIsStatedInWordsKnownHere() {
    assertThat(origin(newString("NEW"))).isEqualTo(Origin.NEW);
    assertThat(origin(newString("reused"))).isEqualTo(Origin.REUSED);
    for (Value other : List.of(newString("COPIED"), NIL, newInteger(1))) {
      assertThat(origin(other)).as("%s", other).isNull();
    }
  }

  private static @Nullable Origin origin(Value stated) {
    Value event =
        newMap(
            newString("type"), newString("BlockStored"),
            newString("block_hashes"), hashes(1),
            newString("parent_block_hash"), NIL,
            newString("token_ids"), newArray(newInteger(5)),
            newString("block_size"), newInteger(1),
            newString("origin"), stated);
    return ((EngineEvent.Stored) accepted(VLLM, batch(event)).events().get(0)).origin();
  }

  @Test
  void shouldTellNameFromMetadata_whenTheSlotIsShared() {
    Value salted = newMap(newInteger(1), NIL, newString("cache_salt"), newString("s"));
    EngineEvent.Stored metadata = stored(SGLANG, hashes(1), NIL, NIL, one(), NIL, NIL, salted);
    assertThat(metadata.salt()).isEqualTo("s");
    assertThat(metadata.adapter()).isEqualTo(Adapter.NONE);
    EngineEvent.Stored named =
        stored(VLLM, hashes(1), NIL, NIL, one(), newInteger(4), NIL, newString("ad"));
    assertThat(named.adapter()).isEqualTo(new Adapter(4L, "ad"));
    EngineEvent.Stored other = stored(VLLM, hashes(1), NIL, NIL, one(), NIL, NIL, newInteger(5));
    assertThat(other.adapter()).isEqualTo(Adapter.NONE);
  }

  @Test
  void shouldStepOverWhatOnlyVllmHas_whenSglangSendsLongerArrays() {
    Value[] tail = {NIL, NIL, NIL, newInteger(5), newString("no group")};
    assertThat(stored(SGLANG, hashes(1), NIL, NIL, one(), tail).scope().hasGroup()).isFalse();
    assertThat(accepted(VLLM, batch(array(hashes(1), NIL, NIL, one(), tail))).skipped()).hasSize(1);
  }

  @Test
  void shouldNotTrustTokens_whenExtraKeysDoNotGoWithTheBlocks() {
    Value extra = newArray(newArray(newString("salt")), NIL);
    EngineEvent.Stored stored =
        stored(VLLM, hashes(1), NIL, newArray(newInteger(1)), one(), NIL, NIL, NIL, extra);
    assertThat(stored.tokens().fit()).isEqualTo(Fit.UNUSABLE);
  }

  @Test
  void shouldTakeTheSaltFromTheFirstBlockOnly_whenStringsFollow() {
    Value extra = newArray(newArray(newString("ad"), newString("img"), newString("salt")), NIL);
    Value[] tail = {NIL, NIL, newString("ad"), extra};
    EngineEvent.Stored root = stored(VLLM, hashes(1, 2), NIL, NIL, one(), tail);
    assertThat(root.salt()).isEqualTo("salt");
    assertThat(root.extraHashes().get(0)).isNotZero();
    assertThat(root.extraHashes().get(1)).isZero();

    EngineEvent.Stored later = stored(VLLM, hashes(1, 2), one(), NIL, one(), tail);
    assertThat(later.salt()).isNull();
    assertThat(later.extraHashes().get(0)).isNotZero().isNotEqualTo(root.extraHashes().get(0));
  }

  /** Maps as of vllm#55487, and tuples as vLLM hashes since 0.32. */
  @Test
  void shouldTakeKeysForWhatTheySay_whenTheyAreTyped() {
    Value lora = typed("lora", "name", newString("ad"));
    Value image = typed("mm", "identifier", newString("img"));
    Value salt = typed("cache_salt", "value", newString("s"));
    Value legacy = typed("legacy", "value", newString("s"));
    Value mark = newString("dynamo-cache-salt:s");
    Value tagged = newArray(newString("cache_salt"), newString("s"));
    Value tuple = newArray(newString("lora"), newString("ad"), newString("/path"));
    Value digest = typed("prompt_embeds", "digest", newBinary(new byte[] {1, 2}));
    List<List<Value>> plain =
        List.of(
            List.of(lora, salt),
            List.of(lora, legacy),
            List.of(newString("ad"), mark),
            List.of(tuple, tagged),
            List.of(salt, lora));
    for (List<Value> keys : plain) {
      EngineEvent.Stored stored = withKeys(true, keys);
      assertThat(stored.salt()).as(keys.toString()).isEqualTo("s");
      assertThat(stored.extraHashes()).as(keys.toString()).isEqualTo(Hashes.EMPTY);
    }
    for (List<Value> keys :
        List.of(
            List.of(lora, image, salt),
            List.of(mark, newString("img")),
            List.of(lora, digest, tagged))) {
      EngineEvent.Stored stored = withKeys(true, keys);
      assertThat(stored.salt()).as(keys.toString()).isEqualTo("s");
      assertThat(stored.extraHashes().get(0)).as(keys.toString()).isNotZero();
    }
    EngineEvent.Stored offset =
        withKeys(true, List.of(newArray(newString("cache_salt"), newInteger(3))));
    assertThat(offset.salt()).as("an input of that name").isNull();
    assertThat(offset.extraHashes().get(0)).isNotZero();
    EngineEvent.Stored other = withKeys(true, List.of(typed("lora", "name", newString("other"))));
    assertThat(other.extraHashes().get(0)).as("not the event's adapter").isNotZero();
    EngineEvent.Stored embeds = withKeys(true, List.of(digest));
    assertThat(embeds.salt()).isNull();
    assertThat(embeds.extraHashes().get(0)).isNotZero();
    EngineEvent.Stored below = withKeys(false, List.of(newString("ad"), newString("text")));
    assertThat(below.salt()).isNull();
    assertThat(below.extraHashes().get(0)).isNotZero();
  }

  private static EngineEvent.Stored withKeys(boolean atRoot, List<Value> keys) {
    Value extra = newArray(newArray(keys.toArray(new Value[0])));
    Value[] tail = {NIL, NIL, newString("ad"), extra};
    return stored(VLLM, hashes(1), atRoot ? NIL : newInteger(7), NIL, one(), tail);
  }

  private static Value typed(String type, String member, Value value) {
    return newMap(newString("type"), newString(type), newString(member), value);
  }

  @Test
  void shouldUnpackOnceMore_whenEventsAreWrapped() {
    Value good = newBinary(pack(newMap(newString("type"), newString("AllBlocksCleared"))));
    Value cut = newBinary(new byte[] {(byte) 0x93, (byte) 0xa1});
    Value trailing = newBinary(new byte[] {(byte) 0x91, (byte) 0xa1, 'x', 0});
    EngineBatch batch = accepted(VLLM, batch(good, cut, trailing, newBinary(new byte[0])));
    assertThat(batch.events()).containsExactly(new EngineEvent.Cleared(null));
    assertThat(batch.skipped())
        .extracting(EngineBatch.Skipped::reason)
        .containsExactly(SkipReason.MALFORMED, SkipReason.MALFORMED, SkipReason.MALFORMED);
  }

  @Test
  void shouldKeepPromptsOutOfLogs_whenPrinted() {
    Value tokens = newArray(newInteger(424_242));
    assertThat(stored(VLLM, hashes(1), NIL, tokens, one()).toString()).doesNotContain("424242");
  }

  private static Value one() {
    return newInteger(1);
  }

  private static Value pair(int first, int second) {
    return newArray(newInteger(first), newInteger(second));
  }

  private static Value hashes(long... hashes) {
    Value[] values = new Value[hashes.length];
    for (int i = 0; i < hashes.length; i++) {
      values[i] = newInteger(hashes[i]);
    }
    return newArray(values);
  }

  private static EngineEvent.Stored stored(
      EngineDecoder decoder, Value hashes, Value parent, Value tokens, Value size, Value... tail) {
    EngineBatch batch = accepted(decoder, batch(array(hashes, parent, tokens, size, tail)));
    assertThat(batch.skipped()).isEmpty();
    return (EngineEvent.Stored) batch.events().get(0);
  }

  private static Value array(Value hashes, Value parent, Value tokens, Value size, Value... tail) {
    Value[] event = new Value[EngineDecoder.MIN_STORED + tail.length];
    event[0] = newString("BlockStored".getBytes(StandardCharsets.UTF_8));
    event[1] = hashes;
    event[2] = parent;
    event[3] = tokens;
    event[4] = size;
    System.arraycopy(tail, 0, event, EngineDecoder.MIN_STORED, tail.length);
    return newArray(event);
  }

  private static byte[] batch(Value... events) {
    return pack(newArray(newFloat(1.0), newArray(events)));
  }

  private static EngineBatch accepted(EngineDecoder decoder, byte[] payload) {
    DecodeResult result = decoder.decode(payload);
    assertThat(result).isInstanceOf(EngineBatch.class);
    return (EngineBatch) result;
  }

  private static void assertRejected(byte[] payload, RejectReason reason) {
    assertThat(VLLM.decode(payload)).isEqualTo(new BatchRejected(reason));
  }

  private static byte[] pack(Value value) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packValue(value);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
