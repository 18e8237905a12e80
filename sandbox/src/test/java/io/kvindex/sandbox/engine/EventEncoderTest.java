// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.engine.EngineEvent.Block;
import io.kvindex.sandbox.engine.EngineEvent.Cleared;
import io.kvindex.sandbox.engine.EngineEvent.Origin;
import io.kvindex.sandbox.engine.EngineEvent.Removed;
import io.kvindex.sandbox.engine.EngineEvent.Stored;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.value.Value;

/** Byte for byte what the engines' own publishers encode. */
class EventEncoderTest {
  private static final double TS = 1760000000.25;
  private static final long H0 = 0x8aacae47f66585edL;
  private static final long H1 = 0x71ce77cbc8124e3bL;
  private static final long H2 = 0xb2858312b152c275L;

  private static Block block(long hash, int firstToken) {
    return new Block(hash, IntStream.range(firstToken, firstToken + 16).toArray());
  }

  private static Origin origin(@Nullable Long parent, @Nullable String salt) {
    return new Origin(parent, parent == null, 16, null, null, salt);
  }

  private static byte[] vllm(EventForm form, EngineEvent... events) {
    return new EventEncoder(EngineDialect.VLLM, form).encode(TS, List.of(events), 0);
  }

  private static byte[] sglang(EventForm form, int rank, EngineEvent... events) {
    return new EventEncoder(EngineDialect.SGLANG, form).encode(TS, List.of(events), rank);
  }

  @Test
  void shouldEqualVllmsArray_whenStoringOnTheDevice() {
    Stored stored = new Stored(Medium.GPU, List.of(block(H0, 100)), origin(null, null));
    assertThat(vllm(EventForm.ARRAY, stored)).isEqualTo(Vectors.payload("vllm_a6_full_attention"));
  }

  @Test
  void shouldEqualVllm026sMap_whenStoringOnTheDevice() {
    Stored stored =
        new Stored(Medium.GPU, List.of(block(0xdab89baa7b5857c0L, 100)), origin(null, null));
    assertThat(vllm(EventForm.MAP, stored)).isEqualTo(Vectors.payload("vllm_m_stored_026"));
  }

  @Test
  void shouldEqualVllmsOffloading_whenStoringInTheHostTier() {
    Stored chunk =
        new Stored(
            Medium.HOST, List.of(block(H0, 0), block(H1, 16), block(H2, 32)), origin(null, null));
    assertThat(vllm(EventForm.MAP, chunk)).isEqualTo(Vectors.payload("vllm_m_offload_chunk"));
    Stored placeholder =
        new Stored(
            Medium.HOST,
            List.of(new Block(H0, new int[0]), new Block(H1, new int[0])),
            Origin.placeholder());
    assertThat(vllm(EventForm.MAP, placeholder))
        .isEqualTo(Vectors.payload("vllm_m_offload_placeholder"));
  }

  @Test
  void shouldEqualVllmsMap_whenCleared() {
    assertThat(vllm(EventForm.MAP, new Cleared())).isEqualTo(Vectors.payload("vllm_m_cleared"));
  }

  @Test
  void shouldEqualSglangsArrays_whenStoringPlainAndSaltedPages() {
    Stored first = new Stored(Medium.GPU, List.of(block(H0, 100)), origin(null, null));
    Stored next = new Stored(Medium.GPU, List.of(block(H1, 100)), origin(H0, null));
    assertThat(sglang(EventForm.ARRAY, 0, first, next))
        .isEqualTo(Vectors.payload("sglang_a3_medium"));
    Stored salted = new Stored(Medium.GPU, List.of(block(H0, 100)), origin(null, "tenant-a"));
    assertThat(sglang(EventForm.ARRAY, 0, salted))
        .isEqualTo(Vectors.payload("sglang_a4_cache_salt"));
  }

  @Test
  void shouldNameTheSameValuesAsSglangsMap_whenStoredSaltedRemovedAndCleared() {
    Value ours =
        WireReader.unpack(
            sglang(
                EventForm.MAP,
                1,
                new Stored(Medium.GPU, List.of(block(H0, 100)), origin(null, "tenant-a")),
                new Removed(Medium.GPU, H0),
                new Cleared()));
    List<Value> theirs =
        WireReader.unpack(Vectors.payload("sglang_m_stored"))
            .asArrayValue()
            .list()
            .get(1)
            .asArrayValue()
            .list();
    List<Value> events = ours.asArrayValue().get(1).asArrayValue().list();
    // Their sample also has a session id, which only some requests have.
    assertThat(theirs.get(0).asMapValue().map())
        .containsAllEntriesOf(events.get(0).asMapValue().map());
    assertThat(events.get(1)).isEqualTo(theirs.get(2));
    assertThat(events.get(2)).isEqualTo(theirs.get(4));
    assertThat(ours.asArrayValue().get(2).asIntegerValue().asInt()).isEqualTo(1);
  }

  @Test
  void shouldCarryAdapterAndSaltAsVllmDoes_whenAPromptHasBoth() {
    for (EventForm form : EventForm.values()) {
      Stored stored =
          new Stored(
              Medium.GPU,
              List.of(block(H0, 100), block(H1, 116)),
              new Origin(null, true, 16, 2, "ad1", "s"));
      List<WireReader.Event> events =
          WireReader.read(vllm(form, stored, new Removed(Medium.GPU, H1)));
      assertThat(events.get(0).loraName()).isEqualTo("ad1");
      assertThat(events.get(0).extraKeys()).isEqualTo("[[\"ad1\",\"s\"],[\"ad1\"]]");
      assertThat(events.get(0).hashes()).containsExactly(H0, H1);
      assertThat(events.get(0).tokens()).hasSize(32);
      assertThat(events.get(1).kind()).isEqualTo("BlockRemoved");
      assertThat(events.get(1).hashes()).containsExactly(H1);
      assertThat(events.get(1).medium()).isEqualTo("GPU");
    }
  }
}
