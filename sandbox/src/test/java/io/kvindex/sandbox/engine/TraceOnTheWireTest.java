// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.trace.TraceReader;
import io.kvindex.sandbox.trace.TraceRequest;
import io.kvindex.sandbox.trace.TraceTokens;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.ZMQ;

/** Real requests through real sockets: what arrives is what the engine says it sent and holds. */
@Timeout(120)
class TraceOnTheWireTest {
  private static final int REQUESTS = 60;

  @Test
  void shouldArriveWholeAndInOrder_whenATraceIsPrefilled() throws IOException {
    try (SimulatedEngine engine =
            EngineOptions.vllm("trace").gpuBlocks(3_000).hostBlocks(4_000).start();
        Subscriber client = new Subscriber();
        TraceReader trace = TraceReader.bundled()) {
      for (int i = 0; i < REQUESTS; i++) {
        TraceRequest request = Objects.requireNonNull(trace.next());
        engine.prefill(request.tokens(TraceTokens.standard()), null, null);
        engine.flush();
      }
      List<List<byte[]>> replies = Subscriber.replay(client.dealer(engine), new byte[0]);
      List<byte[]> payloads = new ArrayList<>();
      for (List<byte[]> reply : replies.subList(0, replies.size() - 1)) {
        assertThat(ByteBuffer.wrap(reply.get(2)).getLong()).isEqualTo(payloads.size());
        payloads.add(Subscriber.last(reply));
      }
      assertThat(payloads).hasSize(Math.toIntExact(engine.lastSequence() + 1));
      assertThat(counted(payloads)).isEqualTo(engine.counters());
      assertThat(engine.counters().hostBlocksRemoved()).isPositive();

      NaiveIndex index = new NaiveIndex(false);
      payloads.forEach(index::apply);
      assertThat(index.duplicates).isZero();
      EngineCounters sent = engine.counters();
      assertThat(index.held("GPU"))
          .hasSize((int) (sent.gpuBlocksStored() - sent.gpuBlocksRemoved()));
      assertThat(index.held("CPU")).hasSize(4_000); // full, each prefix once
    }
  }

  @Test
  void shouldKeepUpWithThePublisher_whenSubscribedBeforeTheFirstStep() throws IOException {
    try (SimulatedEngine engine = EngineOptions.sglang("trace").gpuBlocks(3_000).start();
        Subscriber client = new Subscriber();
        TraceReader trace = TraceReader.bundled()) {
      ZMQ.Socket sub = client.subscribe(engine);
      sub.setReceiveTimeOut(20);
      int token = 0;
      do { // a subscription has no acknowledgement: knock until the first answer
        engine.prefill(
            new int[] {token++, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, null, null);
        engine.flush();
      } while (sub.recv() == null && token < 500);
      sub.setReceiveTimeOut(10_000);
      long expected = ByteBuffer.wrap(sub.recv()).getLong();
      sub.recv();
      for (int i = 0; i < REQUESTS; i++) {
        TraceRequest request = Objects.requireNonNull(trace.next());
        engine.prefill(request.tokens(TraceTokens.standard()), null, null);
        engine.flush();
      }
      while (expected < engine.lastSequence()) {
        expected++;
        assertThat(ByteBuffer.wrap(Subscriber.receive(sub).get(1)).getLong()).isEqualTo(expected);
      }
    }
  }

  private static EngineCounters counted(List<byte[]> payloads) {
    long[] events = new long[3];
    long[] blocks = new long[4];
    for (byte[] payload : payloads) {
      for (WireReader.Event event : WireReader.read(payload)) {
        int kind = List.of("BlockStored", "BlockRemoved", "AllBlocksCleared").indexOf(event.kind());
        events[kind]++;
        int tier = "GPU".equals(event.medium()) ? 0 : 2;
        blocks[tier + kind] += event.hashes().size();
      }
    }
    return new EngineCounters(
        payloads.size(),
        0,
        events[0],
        events[1],
        events[2],
        blocks[0],
        blocks[1],
        blocks[2],
        blocks[3]);
  }
}
