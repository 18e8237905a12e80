// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.zeromq.ZMQ;

@Timeout(60)
class SimulatedEngineTest {
  private static final JsonNode FRAMES = Vectors.read("wire-frames.json");
  private int nextToken;

  private void step(SimulatedEngine engine) {
    engine.prefill(freshPrompt(), null, null);
    assertThat(engine.flush()).isTrue();
  }

  private int[] freshPrompt() {
    nextToken += 32;
    return IntStream.range(nextToken - 32, nextToken).toArray();
  }

  /** SUB joins late by nature: publishes until the first frame is in, returns that one. */
  private List<byte[]> firstFrame(SimulatedEngine engine, ZMQ.Socket sub) {
    List<List<byte[]>> seen = new ArrayList<>();
    sub.setReceiveTimeOut(20);
    await()
        .until(
            () -> {
              step(engine);
              byte[] topic = sub.recv();
              if (topic == null) {
                return false;
              }
              seen.add(List.of(topic, sub.recv(), sub.recv()));
              return true;
            });
    sub.setReceiveTimeOut(10_000);
    return seen.get(0);
  }

  private static long sequence(byte[] frame) {
    assertThat(frame).hasSize(8);
    return ByteBuffer.wrap(frame).getLong();
  }

  @Test
  void shouldSendThreeFramesInSequence_whenStepsArePublished() {
    byte[] topic = Vectors.bytes(FRAMES.get("live").get("frames").get(0));
    String name = new String(topic, StandardCharsets.UTF_8);
    try (SimulatedEngine engine = EngineOptions.vllm("e").topic(name).rank(3).start();
        Subscriber client = new Subscriber()) {
      ZMQ.Socket sub = client.subscribe(engine);
      long first = sequence(firstFrame(engine, sub).get(1));
      long last = engine.lastSequence();
      step(engine);
      assertThat(engine.lastSequence()).isEqualTo(last + 1);
      for (long expected = first + 1; expected <= last + 1; expected++) {
        List<byte[]> frames = Subscriber.receive(sub);
        assertThat(frames).hasSize(FRAMES.get("live").get("frames").size());
        assertThat(frames.get(0)).isEqualTo(topic);
        assertThat(sequence(frames.get(1))).isEqualTo(expected);
        assertThat(WireReader.unpack(frames.get(2)).asArrayValue().get(2).toString())
            .isEqualTo("3");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(ReplayFraming.class)
  void shouldReplayFromTheStart_whenADealerAsks(ReplayFraming framing) {
    boolean newer = framing == ReplayFraming.VLLM_026;
    JsonNode form = FRAMES.get(newer ? "replay_reply_vllm_new" : "replay_reply_old").get("frames");
    JsonNode end = FRAMES.get(newer ? "replay_end_vllm_new" : "replay_end_old").get("frames");
    try (SimulatedEngine engine = EngineOptions.vllm("e").topic("kv@p@m").framing(framing).start();
        Subscriber client = new Subscriber()) {
      IntStream.range(0, 8).forEach(i -> step(engine));
      ZMQ.Socket dealer = client.dealer(engine);
      byte[] request = Vectors.bytes(FRAMES.get("replay_request_dealer").get("frames").get(1));
      List<List<byte[]>> replies = Subscriber.replay(dealer, request);
      assertThat(replies).hasSize(4);
      for (int i = 0; i < 3; i++) {
        List<byte[]> reply = replies.get(i);
        assertThat(reply).hasSize(form.size());
        assertThat(reply.get(0)).isEmpty();
        if (newer) {
          assertThat(reply.get(1)).isEqualTo(Vectors.bytes(form.get(1)));
        }
        assertThat(sequence(reply.get(reply.size() - 2))).isEqualTo(5 + i);
        assertThat(WireReader.read(Subscriber.last(reply))).hasSize(1);
      }
      List<byte[]> marker = replies.get(3);
      assertThat(marker).hasSize(end.size());
      for (int i = 0; i < end.size(); i++) {
        assertThat(marker.get(i)).isEqualTo(Vectors.bytes(end.get(i)));
      }
      assertThat(Subscriber.replay(dealer, new byte[0])).hasSize(9);
      assertThat(Subscriber.replay(dealer, new byte[] {0, 0, 0, 7})).hasSize(2);
      assertThat(Subscriber.replay(dealer, ByteBuffer.allocate(8).putLong(-1).array())).hasSize(1);
    }
  }

  @Test
  void shouldBeginAtTheOldestBuffered_whenTheStartIsTooOld() {
    try (SimulatedEngine engine = EngineOptions.vllm("e").replayBatches(5).start();
        Subscriber client = new Subscriber()) {
      IntStream.range(0, 12).forEach(i -> step(engine));
      List<List<byte[]>> replies = Subscriber.replay(client.dealer(engine), new byte[8]);
      assertThat(replies.subList(0, 5))
          .extracting(frames -> sequence(frames.get(2)))
          .containsExactly(7L, 8L, 9L, 10L, 11L);
      assertThat(replies).hasSize(6);
    }
  }

  @Test
  void shouldNotAnswer_whenARequestLacksTheDelimiter() {
    try (SimulatedEngine engine = EngineOptions.vllm("e").start();
        Subscriber client = new Subscriber()) {
      step(engine);
      ZMQ.Socket dealer = client.dealer(engine);
      dealer.send(new byte[8]);
      assertThat(Subscriber.replay(dealer, new byte[8])).hasSize(2);
      dealer.setReceiveTimeOut(0);
      assertThat(dealer.recv()).isNull();
    }
  }

  @Test
  void shouldNeverAnswerARequest_whenItCameWhileReplaysAreSilent() {
    try (SimulatedEngine engine = EngineOptions.vllm("e").start();
        Subscriber client = new Subscriber()) {
      step(engine);
      ZMQ.Socket dealer = client.dealer(engine);
      assertThat(Subscriber.replay(dealer, new byte[8])).hasSize(2);
      engine.silenceReplay(true);
      dealer.send(new byte[0], ZMQ.SNDMORE);
      dealer.send(new byte[8]);
      dealer.setReceiveTimeOut(500);
      assertThat(dealer.recv()).isNull();
      engine.silenceReplay(false);
      dealer.setReceiveTimeOut(10_000);
      assertThat(Subscriber.replay(dealer, new byte[8])).hasSize(2);
      dealer.setReceiveTimeOut(0);
      assertThat(dealer.recv()).isNull();
    }
  }

  @Test
  void shouldShowAHoleOnlyReplayCanFill_whenABatchIsWithheld() {
    try (SimulatedEngine engine = EngineOptions.vllm("e").start();
        Subscriber client = new Subscriber()) {
      ZMQ.Socket sub = client.subscribe(engine);
      long first = sequence(firstFrame(engine, sub).get(1));
      long hole = engine.lastSequence() + 1;
      engine.prefill(freshPrompt(), null, null);
      engine.flushToReplayOnly();
      step(engine);
      for (long expected = first + 1; expected <= hole + 1; expected++) {
        if (expected != hole) {
          assertThat(sequence(Subscriber.receive(sub).get(1))).isEqualTo(expected);
        }
      }
      List<List<byte[]>> replies = Subscriber.replay(client.dealer(engine), new byte[8]);
      assertThat(replies.stream().limit(replies.size() - 1).map(f -> sequence(f.get(2))))
          .containsExactlyElementsOf(LongStream.rangeClosed(0, hole + 1).boxed().toList());
      assertThat(engine.counters().withheldBatches()).isEqualTo(1);
      assertThat(engine.counters().batches()).isEqualTo(hole + 2);
    }
  }

  @Test
  void shouldBeginAgainAtZeroOnTheSamePorts_whenRestarted() {
    try (SimulatedEngine engine = EngineOptions.vllm("e").start();
        Subscriber client = new Subscriber()) {
      int[] prompt = freshPrompt();
      engine.prefill(prompt, null, null);
      engine.flush();
      String endpoint = engine.endpoint();
      String replayEndpoint = engine.replayEndpoint();
      ZMQ.Socket sub = client.subscribe(engine);
      firstFrame(engine, sub);
      engine.restart();
      assertThat(engine.endpoint()).isEqualTo(endpoint);
      assertThat(engine.replayEndpoint()).isEqualTo(replayEndpoint);
      assertThat(engine.lastSequence()).isEqualTo(-1);
      assertThat(engine.holdings(prompt, null, null).longestMatched()).isZero();
      assertThat(Subscriber.replay(client.dealer(engine), new byte[8])).hasSize(1);
      step(engine);
      assertThat(engine.lastSequence()).isZero();
      assertThat(Subscriber.replay(client.dealer(engine), new byte[8])).hasSize(2);
      // The old subscriber reconnects by itself and meets the new life.
      assertThat(firstFrame(engine, sub)).hasSize(3);
    }
  }

  @Test
  void shouldRefuseToPublish_whenClosedOrKilled() {
    SimulatedEngine closed = EngineOptions.vllm("e").start();
    closed.close();
    assertThatThrownBy(closed::flush).isInstanceOf(IllegalStateException.class);
    SimulatedEngine killed = EngineOptions.sglang("e").start();
    killed.kill();
    killed.close();
    assertThatThrownBy(killed::flush).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldSendNothing_whenAStepHasNoEvents() {
    try (SimulatedEngine engine = EngineOptions.vllm("e").start()) {
      engine.prefill(new int[7], null, null);
      assertThat(engine.flush()).isFalse();
      assertThat(engine.lastSequence()).isEqualTo(-1);
    }
  }

  @Test
  void shouldDeliverEveryQueuedBatch_whenClosedRightAfterPublishing() {
    try (Subscriber client = new Subscriber()) {
      SimulatedEngine engine = EngineOptions.vllm("e").start();
      ZMQ.Socket sub = client.subscribe(engine);
      long first = sequence(firstFrame(engine, sub).get(1));
      for (int i = 0; i < 2_000; i++) {
        step(engine);
      }
      long last = engine.lastSequence();
      engine.close();
      for (long expected = first + 1; expected <= last; expected++) {
        assertThat(sequence(Subscriber.receive(sub).get(1))).isEqualTo(expected);
      }
    }
  }
}
