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
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What {@code /workers} says of each publisher, as metrics. Made when they are asked for: there is
 * nothing to forget when a publisher goes. Thread-safe.
 */
final class PublisherMeters implements MultiCollector {

  private static final String PREFIX = "kvindex_publisher_";
  private static final String WAITING = "frames_waiting";
  private static final double MILLIS = 1e3;

  private final PublisherReports reports;
  private final LongSupplier nowMicros;

  PublisherMeters(PublisherReports reports, LongSupplier nowMicros) {
    this.reports = reports;
    this.nowMicros = nowMicros;
  }

  @Override
  public MetricSnapshots collect() {
    Families families = new Families();
    long now = nowMicros.getAsLong();
    reports.now().forEach(report -> families.add(report, now));
    return families.snapshots();
  }

  private static final class Families {
    private final GaugeSnapshot.Builder state =
        gauge("state", "1 for the state the publisher is in");
    private final CounterSnapshot.Builder counts =
        CounterSnapshot.builder().name(PREFIX + "counts").help("the counters of /workers, by name");
    private final GaugeSnapshot.Builder waiting = gauge(WAITING, "frames in memory");
    private final GaugeSnapshot.Builder blocks = gauge("blocks", "blocks queries can find");
    private final GaugeSnapshot.Builder unverified =
        gauge("unverified", "1 for what of its word could not be checked");
    private final GaugeSnapshot.Builder lagBatches =
        gauge("lag_batches", "batches in Kafka that are not visible here");
    private final GaugeSnapshot.Builder lag =
        gauge("lag_seconds", "how old what is visible may be");
    private final GaugeSnapshot.Builder newest =
        gauge("last_event_timestamp_seconds", "the engine's time of its newest batch in Kafka");
    private final GaugeSnapshot.Builder connected =
        gauge("connected", "1 if its bridge has a connection to it, 0 if not");
    private final GaugeSnapshot.Builder connectionSince =
        gauge("connection_since_timestamp_seconds", "when that began");
    private final GaugeSnapshot.Builder generation = gauge("generation", "its registration");
    private final GaugeSnapshot.Builder life = gauge("life", "its life within the generation");
    private final GaugeSnapshot.Builder clears = gauge("clears", "clears in its life");
    private final GaugeSnapshot.Builder sequence =
        gauge("last_sequence", "sequence of its newest batch in Kafka");

    /** Once more, as Dynamo counts them. */
    private final DynamoGauges theirs = new DynamoGauges();

    private static GaugeSnapshot.Builder gauge(String name, String help) {
      return GaugeSnapshot.builder().name(PREFIX + name).help(help);
    }

    void add(PublisherReport report, long nowMicros) {
      theirs.add(report);
      PublisherId id = report.registered().registration().publisher();
      Labels who =
          Labels.of(
              "instance_id", id.instanceId(),
              "tenant_id", id.tenantId(),
              "dp_rank", Integer.toString(id.dpRank()));
      put(state, who.add("state", report.state().wireName()), 1.0);
      put(generation, who, report.registered().generation());
      MediumLabels.of(report.blocks())
          .forEach((medium, held) -> put(blocks, who.add("medium", medium), held));
      report.unverified().forEach(what -> put(unverified, who.add("what", what), 1));
      Long batches = report.lagBatches();
      put(lagBatches, who, asDouble(batches));
      Long ms = report.lagMs(nowMicros);
      put(lag, who, ms == null ? null : ms / MILLIS);
      BridgeProgress heard = report.heard();
      if (heard != null) {
        addHeard(heard, who);
      }
    }

    private void addHeard(BridgeProgress heard, Labels who) {
      if (heard.lastTimeMicros() != 0) {
        put(newest, who, seconds(heard.lastTimeMicros()));
      }
      put(life, who, asDouble(heard.life()));
      put(clears, who, heard.clears());
      put(sequence, who, asDouble(heard.lastSequence()));
      Connection connection = heard.connection();
      if (connection != null) {
        put(connected, who, connection.up() ? 1 : 0);
        put(connectionSince, who, seconds(connection.sinceMicros()));
      }
      addCounters(heard, who);
    }

    private void addCounters(BridgeProgress heard, Labels who) {
      heard
          .counters()
          .forEach(
              (name, count) -> {
                if (name.equals(WAITING)) {
                  put(waiting, who, count.doubleValue());
                } else {
                  counts.dataPoint(
                      CounterDataPointSnapshot.builder()
                          .labels(who.add("name", name))
                          .value(count)
                          .build());
                }
              });
    }

    private static double seconds(long micros) {
      return micros / (double) TimeUnit.SECONDS.toMicros(1);
    }

    private static @Nullable Double asDouble(@Nullable Long number) {
      return number == null ? null : number.doubleValue();
    }

    private static void put(GaugeSnapshot.Builder family, Labels labels, @Nullable Double value) {
      if (value != null) {
        family.dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build());
      }
    }

    private static void put(GaugeSnapshot.Builder family, Labels labels, long value) {
      put(family, labels, (double) value);
    }

    MetricSnapshots snapshots() {
      MetricSnapshots.Builder all = MetricSnapshots.builder();
      Stream.of(
              state.build(),
              counts.build(),
              waiting.build(),
              blocks.build(),
              unverified.build(),
              lagBatches.build(),
              lag.build(),
              newest.build(),
              connected.build(),
              connectionSince.build(),
              generation.build(),
              life.build(),
              clears.build(),
              sequence.build())
          .forEach(all::metricSnapshot);
      theirs.snapshots().forEach(all::metricSnapshot);
      return all.build();
    }
  }
}
