// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.replica;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.topic.Topics;
import io.kvindex.model.topic.follow.TopicFollower;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicas there are, as they have said themselves. Who of them lives is another question. What
 * is known stays while Kafka is away. Thread-safe; nothing but {@link #await} waits.
 */
public final class ReplicaDirectory implements AutoCloseable {

  /** Replicas that are known at most: each is asked for its state again and again. */
  static final int MOST = 256;

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaDirectory.class);

  private final Map<String, ReplicaRecord> byAddress = new ConcurrentSkipListMap<>();
  private final OncePerMinute warnings = new OncePerMinute();
  private volatile long passedOver;
  private final TopicFollower follower;

  /**
   * Begins to follow the topic.
   *
   * @param kafka settings of all Kafka clients
   */
  public ReplicaDirectory(Map<String, Object> kafka) {
    follower = TopicFollower.start(kafka, Topics.REPLICAS, this::take);
  }

  /**
   * Waits until all is known that was said before.
   *
   * @return false if that took longer
   */
  public boolean await(Duration longest) throws InterruptedException {
    return follower.refresh(System.nanoTime() + longest.toNanos());
  }

  /** Whether all is known that was said before this process began to read. */
  public boolean caughtUp() {
    return follower.caughtUp();
  }

  /** Addresses of all but one, in order. */
  public List<String> others(String own) {
    return byAddress.keySet().stream().filter(address -> !address.equals(own)).toList();
  }

  /** What a replica said last, null = nothing, or it is forgotten. */
  public @Nullable ReplicaRecord of(String address) {
    return byAddress.get(address);
  }

  /** Where a copy's processes are, or were, in order. */
  public List<String> addressesOf(String copy) {
    return byAddress.values().stream()
        .map(ReplicaRecord::id)
        .filter(id -> id.copy().equals(copy))
        .map(ReplicaId::address)
        .toList();
  }

  /** Records that can not be read, or are too many; counted since this process started. */
  public long passedOver() {
    return passedOver;
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    try {
      if (record.value() == null) {
        byAddress.remove(ReplicaRecord.address(record.key()));
        return;
      }
      ReplicaRecord said = ReplicaRecord.decode(record.key(), record.value());
      String address = said.id().address();
      if (byAddress.size() >= MOST && !byAddress.containsKey(address)) {
        throw new MalformedRecordException(
            "there are " + MOST + " already; `kvindex forget` takes out those that are gone");
      }
      byAddress.put(address, said);
    } catch (MalformedRecordException | NullPointerException e) {
      passOver(record.offset(), e);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // the follower's thread alone writes
  private void passOver(long offset, RuntimeException e) {
    passedOver++;
    if (warnings.allows()) {
      LOG.warn("a replica is passed over, offset={}: {}", offset, e.toString());
    }
  }

  @Override
  public void close() {
    follower.close();
  }
}
