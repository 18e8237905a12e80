// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.sandbox.engine.ReplayBuffer.Batch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An engine's two sockets for batches made elsewhere: live events and the replay of the last ones.
 * Used by one thread.
 */
public final class PayloadPublisher implements AutoCloseable {

  /** Batches kept for replay, as engines do. */
  public static final int KEPT = 10_000;

  private final EngineOptions options;
  private EventPublisher publisher;

  /**
   * Binds both sockets at free ports.
   *
   * @param host address to bind
   */
  public PayloadPublisher(String name, String host) {
    options = EngineOptions.vllm(name).replayBatches(KEPT).replayHighWaterMark(0);
    String anyPort = "tcp://" + host + ":*";
    publisher = new EventPublisher(options, anyPort, anyPort, new AtomicLong(), () -> false);
  }

  /** Address of live events. */
  public String endpoint() {
    return publisher.endpoint();
  }

  /** Address of the replay. */
  public String replayEndpoint() {
    return publisher.replayEndpoint();
  }

  /** Publishes a batch; sequences have to grow, holes are holes. */
  public void publish(long sequence, byte[] payload) {
    publisher.publish(new Batch(sequence, payload, true));
  }

  /** Ends and begins again at the same ports with nothing to replay, as a restarted engine. */
  public void restart() {
    String pub = publisher.endpoint();
    String replay = publisher.replayEndpoint();
    publisher.kill();
    publisher = new EventPublisher(options, pub, replay, new AtomicLong(), () -> false);
  }

  @Override
  public void close() {
    publisher.close();
  }
}
