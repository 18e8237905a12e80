// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.decode.RawBatch;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/** Reads a publisher's replay endpoint with the bridge's own frame reader and decoder. */
final class PublishedBatches {
  private static final int TIMEOUT_MS = 10_000;

  private PublishedBatches() {}

  /** JeroMQ 0.6.0 sometimes connects and never greets; after this long it tries again. */
  private static final int HANDSHAKE_MS = 300;

  static List<EngineBatch> replay(LoadPublisher publisher, int from) {
    List<EngineBatch> batches = new ArrayList<>();
    try (ZContext context = new ZContext()) {
      ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
      dealer.setReceiveTimeOut(1);
      dealer.setHandshakeIvl(HANDSHAKE_MS);
      dealer.connect(publisher.replayEndpoint());
      dealer.send(new byte[0], ZMQ.SNDMORE);
      dealer.send(new byte[] {(byte) from});
      long deadline = System.nanoTime() + TIMEOUT_MS * 1_000_000L;
      while (System.nanoTime() < deadline) {
        publisher.serve();
        ZMsg message = ZMsg.recvMsg(dealer);
        if (message == null) {
          continue;
        }
        List<byte[]> frames = new ArrayList<>();
        message.forEach(frame -> frames.add(frame.getData()));
        Frame frame = Frames.replay(frames, 1);
        if (frame instanceof Frame.End) {
          return batches;
        }
        batches.add((EngineBatch) ((RawBatch) frame).decoded(EngineDecoder.VLLM, 0));
      }
    }
    throw new AssertionError("no end of the replay");
  }
}
