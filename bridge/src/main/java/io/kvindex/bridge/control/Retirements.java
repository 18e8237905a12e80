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
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How registrations end: the tables are told, again until Kafka has it, that everything a publisher
 * announced is dead. Control thread only.
 */
final class Retirements {

  private static final Logger LOG = LoggerFactory.getLogger(Retirements.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  /** Lower than any claimed life, so that a life of the same generation fences the retirement. */
  private static final long NO_LIFE = -1;

  private final OncePerMinute warnings = new OncePerMinute();
  private final EventSink sink;
  private final BridgeMetrics metrics;
  private final Steps steps;

  /**
   * @param steps what the control thread does next
   */
  Retirements(EventSink sink, BridgeMetrics metrics, Steps steps) {
    this.sink = sink;
    this.metrics = metrics;
    this.steps = steps;
  }

  /**
   * Hides all that a publisher wrote to a table before {@code generation}, at once, before the new
   * one has said anything. Whoever is followed meanwhile, a late one changes nothing, and a missing
   * one leaves dead blocks behind.
   *
   * @param done what to do once the tables can know
   */
  void fence(
      PublisherId publisher, TableId table, SourceType type, long generation, Steps.Step done) {
    if (Protection.TOMBSTONE.isOff()) {
      steps.add(done);
      return;
    }
    send(
        new EventRecord(
            table,
            StreamId.of(publisher),
            type,
            SourceTraits.defaultFor(type),
            new Incarnation(generation, NO_LIFE, 0),
            EventRecord.Position.whole(0),
            null,
            0,
            List.of(new KvEvent.Retired())),
        done);
  }

  private void send(EventRecord record, Steps.Step done) {
    metrics.batch(record.events());
    sink.sendAlone(
        record,
        (metadata, problem) -> {
          if (problem == null) {
            steps.add(done);
            return;
          }
          metrics.produceError(problem);
          if (warnings.allows()) {
            LOG.warn(
                "publisher={} could not be retired yet: {}",
                record.stream().publisher(),
                problem.toString());
          }
          steps.addLater(() -> send(record, done), RETRY);
        });
  }
}
