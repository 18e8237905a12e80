// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.SkipReason;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.produce.RecordSplitter;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Pack;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Incarnation;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Names however long must not become a record that Kafka refuses, and the bridge sends for ever.
 */
class LongNamesTest {

  /** Kafka's {@code max.request.size}, less what it adds. */
  private static final int MOST = 1_000_000;

  private static final String HUGE = "x".repeat(1_000_000);

  @ParameterizedTest
  @CsvSource({
    "VLLM, medium",
    "VLLM, lora_name",
    "VLLM, kv_cache_spec_kind",
    "VLLM, ownership",
    "VLLM, locality",
    "VLLM, cache_salt",
    "SGLANG, medium",
    "SGLANG, cache_salt",
    "KV_EVENTS, model_name",
    "KV_EVENTS, additional_salt",
    "KV_EVENTS, lora_name",
    "KV_EVENTS, tenant_id",
    "KV_EVENTS, backend_id",
    "KV_EVENTS, medium",
    "MOONCAKE, object_key",
    "MOONCAKE, tenant_id",
    "MOONCAKE, backend_id",
    "MOONCAKE, model_name",
    "MOONCAKE, medium",
  })
  void shouldSkipAndCount_whenANameIsNearAMegabyte(SourceType type, String member) {
    NormalisedBatch decoded = decode(type, stored(1, member, HUGE), stored(2, member, null));
    assertThat(decoded.skipped()).isEqualTo(Map.of(SkipReason.NAME_TOO_LONG, 1));
    assertThat(decoded.events()).hasSize(1);
    assertThat(bytesOfEach(type, decoded.events())).allMatch(bytes -> bytes < 1_000);
  }

  @Test
  void shouldSkipAndCount_whenTheSaltAmongTheExtraKeysIsNearAMegabyte() {
    Map<String, @Nullable Object> event = stored(1, "extra_keys", List.of(List.of(HUGE)));
    event.put("parent_block_hash", null); // only the first block of a prompt states one
    assertThat(decode(SourceType.VLLM, event).skipped())
        .isEqualTo(Map.of(SkipReason.NAME_TOO_LONG, 1));
  }

  @Test
  void shouldSkipAndCount_whenASaltAtIndex7IsNearAMegabyte() {
    List<@Nullable Object> event = new ArrayList<>();
    event.addAll(List.of("BlockStored", List.of(1L)));
    event.add(null);
    event.addAll(List.of(List.of(), (long) FakeEngine.BLOCK_SIZE));
    event.add(null);
    event.add("GPU");
    event.add(Map.of("cache_salt", HUGE));
    assertThat(decode(SourceType.SGLANG, event).skipped())
        .isEqualTo(Map.of(SkipReason.NAME_TOO_LONG, 1));
  }

  /** What is not read is no reason to lose the event. */
  @Test
  void shouldStepOver_whenAnUnknownMemberIsHuge() {
    NormalisedBatch decoded = decode(SourceType.VLLM, stored(1, "comment", HUGE));
    assertThat(decoded.skipped()).isEmpty();
    assertThat(bytesOfEach(SourceType.VLLM, decoded.events())).allMatch(bytes -> bytes < 1_000);
  }

  /** Each name is as long as it may be, in two-byte characters, and a batch has many of them. */
  @ParameterizedTest
  @CsvSource({"VLLM", "SGLANG", "KV_EVENTS", "MOONCAKE"})
  void shouldSplitByNamesToo_whenManyEventsHaveLongOnes(SourceType type) {
    String longest = "\u00e9".repeat(2_048);
    List<Object> events = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      Map<String, @Nullable Object> event = stored(i, "medium", longest);
      event.put("lora_name", longest);
      event.put("cache_salt", longest);
      event.put("ownership", longest);
      event.put("backend_id", longest);
      if (type != SourceType.KV_EVENTS) {
        event.put("block_hashes", LongStream.range(i * 1_000L, i * 1_000L + 900).boxed().toList());
      }
      events.add(event);
    }
    NormalisedBatch decoded = decode(type, events.toArray());
    assertThat(decoded.events().size() + skipped(decoded)).isEqualTo(300);
    assertThat(bytesOfEach(type, decoded.events())).allMatch(bytes -> bytes < MOST);
    if (type
        == SourceType.KV_EVENTS) { // names a stream by all of them, which has a bound of its own
      assertThat(decoded.skipped()).isEqualTo(Map.of(SkipReason.STREAM_LIMIT, 300));
    } else {
      assertThat(decoded.events()).hasSize(300);
      assertThat(bytesOfEach(type, decoded.events())).hasSizeGreaterThan(5);
    }
  }

  private static long skipped(NormalisedBatch decoded) {
    return decoded.skipped().values().stream().mapToLong(Integer::longValue).sum();
  }

  /** A stored event with members of all dialects, which need not agree. */
  private static Map<String, @Nullable Object> stored(
      long hash, String member, @Nullable Object value) {
    Map<String, @Nullable Object> event =
        Pack.map(
            "type",
            "BlockStored",
            "event_id",
            hash,
            "block_hashes",
            List.of(hash),
            "parent_block_hash",
            7L,
            "token_ids",
            null,
            "block_size",
            (long) FakeEngine.BLOCK_SIZE);
    event.put(member, value);
    return event;
  }

  private static NormalisedBatch decode(SourceType type, Object... events) {
    byte[] payload = Pack.bytes(List.of(1.5, List.of(events)));
    return new PayloadDecoder(registration(type), new Learned()).decode(payload);
  }

  private static List<Integer> bytesOfEach(SourceType type, List<KvEvent> events) {
    RecordSplitter splitter = new RecordSplitter(FollowLimits.DEFAULT.recordBytes());
    List<EventRecord> records =
        new BatchRecords(
                registration(type),
                registration(type).options().traits(),
                new Incarnation(1, 2, 0),
                splitter,
                3,
                null,
                4)
            .whole(events)
            .all();
    assertThat(records.stream().mapToInt(record -> record.events().size()).sum())
        .isGreaterThanOrEqualTo(events.size());
    return records.stream().map(record -> EventRecordCodec.encode(record).length).toList();
  }

  private static Registration registration(SourceType type) {
    return Site.engine("e", "tcp://h:1", null, type);
  }
}
