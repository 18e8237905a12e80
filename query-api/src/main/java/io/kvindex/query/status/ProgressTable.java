// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.site.SiteRecord;
import io.kvindex.model.topic.Topics;
import io.kvindex.model.topic.follow.RecordSink;
import io.kvindex.model.topic.follow.TopicFollower;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the bridges last said of each publisher. Thread-safe. */
public final class ProgressTable implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressTable.class);

  private final Map<PublisherId, BridgeProgress> newest = new ConcurrentHashMap<>();
  private final Unconnected unconnected = new Unconnected();
  private final OncePerMinute warnings = new OncePerMinute();
  private final Counter unreadable;
  private final TopicFollower follower;

  /**
   * Starts to follow the bridge-progress topic.
   *
   * @param clientConfig Kafka client settings, at least {@code bootstrap.servers}
   */
  public ProgressTable(Map<String, Object> clientConfig, MeterRegistry registry) {
    unreadable =
        Counter.builder("kvindex.progress.unreadable")
            .description("Records of the bridge-progress topic that could not be read")
            .register(registry);
    follower = TopicFollower.start(clientConfig, Topics.BRIDGE_PROGRESS, new Sink());
  }

  /** The newest progress of a publisher, null if no bridge has followed it. */
  public @Nullable BridgeProgress get(PublisherId publisher) {
    return newest.get(publisher);
  }

  /**
   * Publishers whose engine is not connected, or not yet shown to be the one that announced what
   * they have, with the generation of their registration; the same object until they change.
   */
  public Map<PublisherId, Long> unconnected() {
    return unconnected.now();
  }

  /** Whether everything that was said before we started is known. */
  public boolean caughtUp() {
    return follower.caughtUp();
  }

  @Override
  public void close() {
    follower.close();
  }

  private final class Sink implements RecordSink {
    @Override
    public void apply(ConsumerRecord<byte[], byte[]> record) {
      if (SiteRecord.isKey(record.key())) {
        return;
      }
      try {
        if (record.value() == null) {
          PublisherId gone = PublisherId.parse(new String(record.key(), StandardCharsets.UTF_8));
          newest.remove(gone);
          unconnected.remove(gone);
        } else {
          BridgeProgress progress = BridgeProgressCodec.decode(record.value());
          newest.put(progress.publisher(), progress);
          unconnected.note(progress);
        }
      } catch (MalformedRecordException | IllegalArgumentException | NullPointerException e) {
        unreadable.increment();
        if (warnings.allows()) {
          LOG.warn(
              "skipped unreadable bridge progress, partition={} offset={}: {}",
              record.partition(),
              record.offset(),
              e.toString());
        }
      }
    }

    @Override
    public void publish() {
      unconnected.publish();
    }
  }

  /**
   * Publishers whose blocks nobody stands for at the moment: their engine is not connected, or not
   * yet shown to be the one that announced them. One that never announced anything is none of them.
   * Written by one thread; {@link #now} may be read by any.
   */
  static final class Unconnected {

    /** The registration under which a publisher has announced something, by its generation. */
    private final Map<PublisherId, Long> announced = new HashMap<>();

    private final Map<PublisherId, Long> unconnected = new HashMap<>();
    private volatile Map<PublisherId, Long> now = Map.of();

    /** A bridge said that. */
    void note(BridgeProgress said) {
      PublisherId publisher = said.publisher();
      if (said.lastSequence() != null) {
        announced.put(publisher, said.generation());
      }
      if (said.isProven() || !Long.valueOf(said.generation()).equals(announced.get(publisher))) {
        unconnected.remove(publisher);
      } else {
        unconnected.put(publisher, said.generation());
      }
    }

    /** It is followed no more. */
    void remove(PublisherId publisher) {
      announced.remove(publisher);
      unconnected.remove(publisher);
    }

    /** Makes visible what was noted. */
    void publish() {
      if (!unconnected.equals(now)) {
        now = Map.copyOf(unconnected);
      }
    }

    /** Those publishers, with the generation of their registration; the same until they change. */
    Map<PublisherId, Long> now() {
      return now;
    }
  }
}
