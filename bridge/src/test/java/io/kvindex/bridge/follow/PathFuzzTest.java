// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.BatchRejected;
import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.bridge.decode.Mutants;
import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.bridge.produce.RecordSplitter;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Incarnation;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Damaged messages take the whole way from the socket's frames to the bytes for Kafka, through the
 * decoder of every type of publisher: each ends as records, in the quarantine or refused as no
 * batch, and is counted once.
 */
class PathFuzzTest {

  private static final int INPUTS = 40_000;
  private static final int RECORD_BYTES = 4_096;

  /** An event's names can not be split: medium, owner, adapter and salt, and the record's own. */
  private static final int NAMES_BYTES = 4 * 4_096 + 500;

  private final Map<SourceType, Normaliser> normalisers = new EnumMap<>(SourceType.class);
  private final Map<SourceType, Registration> registrations = new EnumMap<>(SourceType.class);
  private final RecordSplitter splitter = new RecordSplitter(RECORD_BYTES);
  private final Map<String, Integer> outcomes = new TreeMap<>();

  @Test
  @Timeout(600)
  void shouldEndEachMessageOnce_whenFramesAndPayloadsAreDamaged() {
    for (SourceType type : SourceType.values()) {
      Registration registration = Site.engine("e", "tcp://h:1", null, type);
      registrations.put(type, registration);
      assertThat(EngineDecoder.forSource(type)).isNotNull();
    }
    Fuzz fuzz = Fuzz.of(PathFuzzTest.class, INPUTS);
    fuzz.run(
        (random, one) -> {
          SourceType type = SourceType.values()[random.nextInt(SourceType.values().length)];
          if (random.nextInt(1_000) == 0) {
            normalisers.remove(type); // a new life, as far as what is learned goes
          }
          byte[] payload = Mutants.payload(random);
          List<byte[]> frames = frames(payload, random);
          int length = frames.stream().mapToInt(frame -> frame.length).sum();
          boolean live = random.nextBoolean();
          one.on(
              length, () -> take(type, live ? Frames.live(frames, 1) : Frames.replay(frames, 1)));
        });
    assertThat(outcomes.values().stream().mapToInt(Integer::intValue).sum())
        .as(outcomes::toString)
        .isEqualTo(fuzz.inputs());
    assertThat(outcomes.keySet()).contains("BAD_SEQUENCE", "TOO_FEW_FRAMES", "INSTANCE");
    assertThat(outcomes.keySet()).anyMatch(outcome -> outcome.endsWith(" applied"));
    assertThat(outcomes.keySet()).anyMatch(outcome -> outcome.endsWith(" truncated"));
    assertThat(outcomes.keySet()).noneMatch(outcome -> outcome.contains("decoder_failed"));
  }

  /** A message: mostly right, else with frames too many, too few or of a wrong length. */
  private static List<byte[]> frames(byte[] payload, Random random) {
    List<byte[]> frames = new ArrayList<>();
    frames.add(new byte[random.nextInt(4) == 0 ? random.nextInt(20) : 0]);
    byte[] sequence = new byte[random.nextInt(20) == 0 ? random.nextInt(17) : Long.BYTES];
    random.nextBytes(sequence);
    if (random.nextInt(50) == 0) {
      java.util.Arrays.fill(sequence, (byte) 0xff);
    }
    frames.add(sequence);
    frames.add(random.nextInt(100) == 0 ? new byte[0] : payload);
    switch (random.nextInt(40)) {
      case 0 -> frames.remove(random.nextInt(frames.size()));
      case 1 -> frames.add(random.nextInt(frames.size() + 1), new byte[random.nextInt(12)]);
      case 2 -> frames.subList(random.nextInt(frames.size()), frames.size()).clear();
      default -> {}
    }
    return frames;
  }

  private void take(SourceType type, Frame frame) {
    if (frame instanceof RawBatch batch) {
      Normaliser normaliser =
          normalisers.computeIfAbsent(
              type, t -> Normaliser.of(Objects.requireNonNull(registrations.get(t))));
      DecodeResult decoded = batch.decoded(EngineDecoder.forSource(type), FakeEngine.BLOCK_SIZE);
      if (decoded instanceof EngineBatch good) {
        count(type.wireName() + " applied");
        produce(type, batch.sequence(), normaliser.normalise(good));
      } else {
        String rejected = ((BatchRejected) decoded).reason().label();
        count(type.wireName() + " " + rejected);
        quarantine(batch, rejected);
      }
    } else {
      count(frame.toString());
    }
  }

  private void produce(SourceType type, long sequence, NormalisedBatch decoded) {
    BatchRecords records =
        new BatchRecords(
            Objects.requireNonNull(registrations.get(type)),
            Objects.requireNonNull(registrations.get(type)).options().traits(),
            new Incarnation(1, 2, 0),
            splitter,
            sequence,
            null,
            decoded.timestampMicros());
    records.whole(decoded.events());
    for (EventRecord record : records.all()) {
      byte[] bytes = EventRecordCodec.encode(record);
      if (bytes.length > RECORD_BYTES + NAMES_BYTES) {
        throw new AssertionError("record of " + bytes.length + " bytes: " + record);
      }
      EventRecord read = EventRecordCodec.decode(bytes);
      if (!read.equals(record)) {
        throw new AssertionError("record " + record + " is read as " + read);
      }
    }
  }

  private static void quarantine(RawBatch batch, String reason) {
    byte[] payload = batch.payload();
    QuarantinedFrame frame =
        new QuarantinedFrame(
            new Incarnation(1, 2, 0), batch.sequence(), 3, reason, payload.length, payload);
    if (QuarantineCodec.decode(QuarantineCodec.encode(frame)).sequence() != batch.sequence()) {
      throw new AssertionError("quarantined " + frame);
    }
  }

  private void count(String outcome) {
    outcomes.merge(outcome, 1, Integer::sum);
  }
}
