// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Waits for a consumer's records, until there is something else to do. A wake-up that comes too
 * late for a wait is used up at its end, as Kafka would throw it out of the next call, whichever
 * that is.
 */
final class WakefulPoll {

  private final Consumer<byte[], byte[]> consumer;
  private boolean waiting;
  private boolean woken;

  WakefulPoll(Consumer<byte[], byte[]> consumer) {
    this.consumer = consumer;
  }

  /**
   * Waits; the consumer's thread.
   *
   * @param longest how long at most; asked when a wake-up has its effect already
   * @return none if it was woken
   */
  ConsumerRecords<byte[], byte[]> poll(Supplier<Duration> longest) {
    begin();
    boolean thrown = false;
    try {
      return consumer.poll(longest.get());
    } catch (WakeupException e) {
      thrown = true;
      return ConsumerRecords.empty();
    } finally {
      if (end() && !thrown) {
        useUp();
      }
    }
  }

  private synchronized void begin() {
    waiting = true;
  }

  private synchronized boolean end() {
    boolean was = woken;
    waiting = false;
    woken = false;
    return was;
  }

  private void useUp() {
    try {
      consumer.poll(Duration.ZERO);
    } catch (WakeupException e) {
      return; // before anything else
    }
  }

  /** Ends a wait, if there is one; any thread. */
  synchronized void wakeUp() {
    if (waiting && !woken) {
      woken = true;
      consumer.wakeup();
    }
  }
}
