// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.log.OncePerMinute;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the tables that everything a publisher announced is dead. */
final class Retirements {

  private static final Logger LOG = LoggerFactory.getLogger(Retirements.class);

  /** Lower than any claimed life, so that a life of the same generation fences the retirement. */
  private static final long NO_LIFE = -1;

  private final OncePerMinute warnings = new OncePerMinute();
  private final EventSink sink;
  private final BridgeMetrics metrics;

  Retirements(EventSink sink, BridgeMetrics metrics) {
    this.sink = sink;
    this.metrics = metrics;
  }

  /**
   * Fences all that a publisher wrote to a table before {@code generation}.
   *
   * @param done told by the producer's thread whether Kafka has it
   */
  void retire(PublisherId publisher, TableId table, SourceType type, long generation, Done done) {
    if (Protection.TOMBSTONE.isOff()) {
      done.done(true);
      return;
    }
    EventRecord record =
        new EventRecord(
            table,
            StreamId.of(publisher),
            type,
            SourceTraits.defaultFor(type),
            new Incarnation(generation, NO_LIFE, 0),
            EventRecord.Position.whole(0),
            null,
            0,
            List.of(new KvEvent.Retired()));
    metrics.batch(record.events());
    sink.sendAlone(
        record,
        (metadata, problem) -> {
          if (problem != null) {
            metrics.produceError(problem);
            if (warnings.allows()) {
              LOG.warn("publisher={} could not be retired yet: {}", publisher, problem.toString());
            }
          }
          done.done(problem == null);
        });
  }

  /** How it went. */
  interface Done {
    void done(boolean durable);
  }
}
