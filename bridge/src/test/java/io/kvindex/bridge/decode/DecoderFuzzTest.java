// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.WireVectors.Vector;
import io.kvindex.model.SourceType;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.msgpack.core.MessagePack;
import org.msgpack.value.ArrayValue;

/** Damaged payloads: each is accepted, or skipped and rejected with a reason, and quickly. */
class DecoderFuzzTest {

  private static final int MUTATIONS = Integer.getInteger("fuzz.inputs", 100_000);
  private static final Duration SLOWEST = Duration.ofMillis(500);

  private static final List<EngineBatch> ORIGINALS =
      goodVectors().stream().map(v -> (EngineBatch) v.decoder().decode(v.payload())).toList();

  private final Map<RejectReason, Integer> rejected = new EnumMap<>(RejectReason.class);
  private final Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
  private final Map<String, Integer> decoders = new TreeMap<>();
  private int clean;
  private int partly;
  private int reachedAnEvent;

  @Test
  @Timeout(600)
  void shouldAccountForEveryPayload_whenMutated() throws IOException {
    Random random = Fuzz.random(DecoderFuzzTest.class);
    List<Vector> vectors = goodVectors();
    for (int i = 0; i < MUTATIONS; i++) {
      int pick = random.nextInt(vectors.size());
      Vector vector = vectors.get(pick);
      byte[] mutant = Mutations.mutate(vector.payload(), random);
      EngineDecoder decoder =
          random.nextInt(4) > 0
              ? vector.decoder()
              : EngineDecoder.forSource(
                  SourceType.values()[random.nextInt(SourceType.values().length)]);
      long start = System.nanoTime();
      DecodeResult result = decoder.decode(mutant);
      assertThat(System.nanoTime() - start)
          .as("time for mutant %d of %s", i, vector)
          .isLessThan(SLOWEST.toNanos());
      decoders.merge(decoder.name(), 1, Integer::sum);
      count(result, ORIGINALS.get(pick));
      if (i % 10 == 0 && result instanceof EngineBatch batch) {
        assertThat(batch.events().size() + batch.skipped().size())
            .as("events sent in mutant %d of %s", i, vector)
            .isEqualTo(eventsSent(mutant));
      }
    }
    int rejections = rejected.values().stream().mapToInt(Integer::intValue).sum();
    assertThat(clean + partly + rejections)
        .as("%,d clean, %,d with skips %s, rejected %s", clean, partly, skipped, rejected)
        .isEqualTo(MUTATIONS);
    assertThat(clean + partly).as("at least half reach an event").isGreaterThan(MUTATIONS / 2);
    assertThat(reachedAnEvent).isGreaterThan(MUTATIONS / 4);
    assertThat(EnumSet.complementOf(EnumSet.copyOf(rejected.keySet())))
        .isEqualTo(EnumSet.of(RejectReason.DECODER_FAILED));
    assertThat(skipped.keySet())
        .containsOnly(SkipReason.MALFORMED, SkipReason.UNKNOWN_TAG, SkipReason.NAME_TOO_LONG);
    assertThat(decoders).hasSize(decodersOfAllTypes());
    assertThat(decoders.values()).allMatch(inputs -> inputs > MUTATIONS / 50);
  }

  /** Some types are read alike. */
  private static int decodersOfAllTypes() {
    return (int)
        Arrays.stream(SourceType.values()).map(EngineDecoder::forSource).distinct().count();
  }

  private void count(DecodeResult result, EngineBatch original) {
    if (result instanceof BatchRejected bad) {
      rejected.merge(bad.reason(), 1, Integer::sum);
      return;
    }
    EngineBatch batch = (EngineBatch) result;
    batch.skipped().forEach(skip -> skipped.merge(skip.reason(), 1, Integer::sum));
    assertThat(batch.skipped()).doesNotHaveDuplicates();
    if (batch.skipped().isEmpty()) {
      clean++;
    } else {
      partly++;
    }
    boolean same =
        batch.events().equals(original.events()) && batch.skipped().equals(original.skipped());
    reachedAnEvent += same ? 0 : 1;
  }

  /** Counted by another unpacker. */
  private static int eventsSent(byte[] payload) throws IOException {
    ArrayValue batch = MessagePack.newDefaultUnpacker(payload).unpackValue().asArrayValue();
    return batch.get(batch.size() == 1 ? 0 : 1).asArrayValue().size(); // stores send lists alone
  }

  private static List<Vector> goodVectors() {
    return WireVectors.all().stream()
        .filter(v -> v.expected().path("events").size() > 0 && !v.engine().equals("trtllm-json"))
        .toList();
  }
}
