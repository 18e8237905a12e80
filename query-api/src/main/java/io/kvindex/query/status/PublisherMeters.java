// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.Connection;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What {@code /workers} says of each publisher, as metrics. Made when they are asked for: there is
 * nothing to forget when a publisher goes. Thread-safe.
 */
final class PublisherMeters implements MultiCollector {
  private static final String PREFIX = "kvindex_publisher_";
  private static final String WAITING = "frames_waiting";
  private static final double MILLIS = 1e3;
  private static final double MICROS = 1e6;

  private final Supplier<List<PublisherReport>> reports;
  private final LongSupplier nowMicros;

  PublisherMeters(Supplier<List<PublisherReport>> reports, LongSupplier nowMicros) {
    this.reports = reports;
    this.nowMicros = nowMicros;
  }

  @Override
  public MetricSnapshots collect() {
    Families families = new Families();
    long now = nowMicros.getAsLong();
    reports.get().forEach(report -> families.add(report, now));
    return families.snapshots();
  }

  private static final class Families {
    private final Map<String, GaugeSnapshot.Builder> gauges = new LinkedHashMap<>();
    private final CounterSnapshot.Builder counts =
        CounterSnapshot.builder().name(PREFIX + "counts").help("the counters of /workers, by name");

    /** Once more, as Dynamo counts them. */
    private final DynamoGauges theirs = new DynamoGauges();

    private void gauge(String name, String help, Labels labels, @Nullable Number value) {
      if (value != null) {
        gauges
            .computeIfAbsent(name, key -> GaugeSnapshot.builder().name(PREFIX + key).help(help))
            .dataPoint(
                GaugeDataPointSnapshot.builder().labels(labels).value(value.doubleValue()).build());
      }
    }

    void add(PublisherReport report, long nowMicros) {
      theirs.add(report);
      PublisherId id = report.registered().registration().publisher();
      Labels who =
          Labels.of(
              "instance_id", id.instanceId(),
              "tenant_id", id.tenantId(),
              "dp_rank", Integer.toString(id.dpRank()));
      Labels state = who.add("state", report.state().wireName());
      gauge("state", "1 for the state the publisher is in", state, 1);
      gauge("generation", "its registration", who, report.registered().generation());
      MediumLabels.of(report.blocks())
          .forEach(
              (medium, held) ->
                  gauge("blocks", "blocks queries can find", who.add("medium", medium), held));
      for (String what : report.unverified()) {
        Labels labels = who.add("what", what);
        gauge("unverified", "1 for what of its word could not be checked", labels, 1);
      }
      gauge("lag_batches", "batches in Kafka that are not visible here", who, report.lagBatches());
      Long ms = report.lagMs(nowMicros);
      gauge("lag_seconds", "how old what is visible may be", who, ms == null ? null : ms / MILLIS);
      BridgeProgress heard = report.heard();
      if (heard != null) {
        addHeard(heard, who);
      }
    }

    private void addHeard(BridgeProgress heard, Labels who) {
      gauge(
          "last_event_timestamp_seconds",
          "the engine's time of its newest batch in Kafka",
          who,
          heard.lastTimeMicros() == 0 ? null : heard.lastTimeMicros() / MICROS);
      gauge("life", "its life within the generation", who, heard.life());
      gauge("clears", "clears in its life", who, heard.clears());
      gauge("last_sequence", "sequence of its newest batch in Kafka", who, heard.lastSequence());
      Connection connection = heard.connection();
      if (connection != null) {
        String help = "1 if its bridge has a connection to it, 0 if not";
        gauge("connected", help, who, connection.up() ? 1 : 0);
        double since = connection.sinceMicros() / MICROS;
        gauge("connection_since_timestamp_seconds", "when that began", who, since);
      }
      heard.counters().forEach((name, count) -> addCounter(name, count, who));
    }

    private void addCounter(String name, long count, Labels who) {
      if (name.equals(WAITING)) {
        gauge(WAITING, "frames in memory", who, count);
      } else {
        counts.dataPoint(
            CounterDataPointSnapshot.builder().labels(who.add("name", name)).value(count).build());
      }
    }

    MetricSnapshots snapshots() {
      MetricSnapshots.Builder all = MetricSnapshots.builder();
      all.metricSnapshot(counts.build());
      gauges.values().forEach(family -> all.metricSnapshot(family.build()));
      theirs.snapshots().forEach(all::metricSnapshot);
      return all.build();
    }
  }
}
