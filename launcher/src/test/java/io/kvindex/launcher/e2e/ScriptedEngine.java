// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import io.kvindex.sandbox.engine.PayloadPublisher;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An engine, or a store, that announces what a test says: live, and in its replay to whoever comes
 * later. For one thread.
 */
final class ScriptedEngine implements AutoCloseable {

  private static final double BEGUN = 1_760_000_000.5;

  private final PayloadPublisher publisher;
  private final int rank;
  private long next;

  /** Its clock: batches of all its lives. */
  private long said;

  /**
   * @param rank what its batches say
   */
  ScriptedEngine(String name, int rank) {
    publisher = new PayloadPublisher(name, "127.0.0.1");
    this.rank = rank;
  }

  String endpoint() {
    return publisher.endpoint();
  }

  String replayEndpoint() {
    return publisher.replayEndpoint();
  }

  /** Sends events as one batch, {@code [seconds, [event...], rank]}. */
  void announce(Object... events) throws IOException {
    announceRaw(WirePublisher.payload(List.of(BEGUN + said, List.of(events), rank)));
  }

  /** Sends a batch nobody can read. */
  void announceGarbage() {
    announceRaw(new byte[] {(byte) 0xc1});
  }

  private void announceRaw(byte[] payload) {
    publisher.publish(next++, payload);
    said++;
  }

  /** A batch that nobody gets, whoever asks for it. */
  void lose() {
    next++;
  }

  /** Dies, and comes back at the same ports with nothing to replay. */
  void restart() {
    publisher.restart();
    next = 0;
  }

  /** vLLM's store of blocks {@code from} to {@code to} of a prompt, parents as in the prompt. */
  static List<@Nullable Object> stored(
      int[] prompt, long[] names, int from, int to, int blockSize, String medium) {
    return Arrays.asList(
        "BlockStored",
        Arrays.stream(names, from, to).boxed().toList(),
        from == 0 ? null : names[from - 1],
        Arrays.stream(prompt, from * blockSize, to * blockSize).boxed().toList(),
        blockSize,
        null,
        medium);
  }

  /** vLLM's removal of blocks. */
  static List<Object> removed(String medium, List<Long> names) {
    return List.of("BlockRemoved", names, medium);
  }

  @Override
  public void close() {
    publisher.close();
  }
}
