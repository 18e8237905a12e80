// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Questions about topics that were made a moment ago: not every broker knows them yet. */
public final class NewTopics {

  private static final long ASK_AGAIN_NANOS = 20_000_000;

  private NewTopics() {}

  /**
   * Asks until a broker answers that knows the topics.
   *
   * @param question asks once
   * @param timeoutMs longest wait for an answer, and how long to ask again, milliseconds
   * @throws ExecutionException if the cluster refuses, or does not know them after that time
   * @throws TimeoutException if it does not answer
   */
  public static <T> T onceKnown(Supplier<KafkaFuture<T>> question, long timeoutMs)
      throws TimeoutException, InterruptedException, ExecutionException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (true) {
      try {
        return question.get().get(timeoutMs, TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)
            || System.nanoTime() - deadline > 0) {
          throw e;
        }
        LockSupport.parkNanos(ASK_AGAIN_NANOS);
      }
    }
  }
}
