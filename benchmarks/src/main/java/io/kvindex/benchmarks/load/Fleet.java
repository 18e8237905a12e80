// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.ZContext;

/** All simulated publishers of a load, driven by one thread. */
final class Fleet implements AutoCloseable {
  private static final long STUCK_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long PAUSE_NS = 200_000;

  private final ZContext context = new ZContext();
  private final List<LoadPublisher> publishers = new ArrayList<>();
  private final VisibleSequences visible;

  Fleet(int size, int keptBatches, VisibleSequences visible) {
    this.visible = visible;
    for (int i = 0; i < size; i++) {
      publishers.add(new LoadPublisher(context, keptBatches));
    }
  }

  int size() {
    return publishers.size();
  }

  LoadPublisher get(int publisher) {
    return publishers.get(publisher);
  }

  /** Registers every publisher, sends each an empty batch and waits until that is visible. */
  void join(String host, int port) throws IOException {
    BatchWriter writer = new BatchWriter();
    register(host, port);
    for (LoadPublisher publisher : publishers) {
      awaitOrFail("subscription to " + publisher.endpoint(), publisher::subscribed);
      writer.begin(System.currentTimeMillis() / 1e3, 0);
      publisher.publish(writer.end(), 0);
    }
    awaitAllVisible();
  }

  /** Registers every publisher at a server, which need not be the one that is watched. */
  void register(String host, int port) throws IOException {
    try (ControlClient control = new ControlClient(host, port)) {
      for (int i = 0; i < size(); i++) {
        control.post("/register", registration(i));
        serve();
      }
    }
  }

  /** From here on no publisher can replay what it has sent so far. */
  void forgetReplays() {
    publishers.forEach(LoadPublisher::forgetReplay);
  }

  /** Takes every publisher off the server again, so that another load may follow. */
  void leave(String host, int port) throws IOException {
    try (ControlClient control = new ControlClient(host, port)) {
      for (int i = 0; i < size(); i++) {
        control.post("/unregister", registration(i));
      }
    }
  }

  private String registration(int publisher) {
    ObjectNode body = ControlClient.JSON.createObjectNode();
    body.put("endpoint", get(publisher).endpoint())
        .put("replay_endpoint", get(publisher).replayEndpoint())
        .put("type", "vLLM")
        .put("modelname", LoadShape.MODEL)
        .put("instance_id", LoadShape.instanceName(publisher))
        .put("block_size", LoadShape.BLOCK_SIZE)
        .put("dp_rank", 0);
    return body.toString();
  }

  /** Answers replay requests; call at least every few milliseconds. */
  void serve() {
    for (LoadPublisher publisher : publishers) {
      publisher.serve();
    }
  }

  /** Waits, serving, until a publisher has at most so many batches under way. */
  void awaitWindow(int publisher, int batches) {
    if (backlog(publisher) >= batches) {
      awaitOrFail(
          LoadShape.instanceName(publisher) + " to catch up", () -> backlog(publisher) < batches);
    }
  }

  long backlog(int publisher) {
    return get(publisher).lastSequence() - visible.of(publisher);
  }

  void awaitAllVisible() {
    for (int i = 0; i < size(); i++) {
      awaitWindow(i, 1);
    }
  }

  /** Block operations visible by now, over all publishers. */
  long visibleOperations() {
    long sum = 0;
    for (int i = 0; i < size(); i++) {
      sum += get(i).operationsUpTo(visible.of(i));
    }
    return sum;
  }

  interface Condition {
    boolean holds();
  }

  private void awaitOrFail(String what, Condition condition) {
    long progress = visible.sum();
    long since = System.nanoTime();
    while (!condition.holds()) {
      serve();
      LockSupport.parkNanos(PAUSE_NS);
      if (visible.sum() != progress) {
        progress = visible.sum();
        since = System.nanoTime();
      } else if (System.nanoTime() - since > STUCK_NS) {
        throw new IllegalStateException("nothing became visible for 60 s, waiting for " + what);
      }
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
