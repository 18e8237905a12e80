// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.registration.Registration;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What is registered, under the names of Dynamo's standalone indexer. For one collection. */
final class DynamoGauges {
  private static final String PREFIX = "dynamo_kvindexer_";
  private static final List<String> STATUSES = List.of("pending", "active", "paused", "failed");

  private final Set<List<String>> models = new HashSet<>();
  private final Set<List<String>> workers = new HashSet<>();
  private final int[] listeners = new int[STATUSES.size()];

  void add(PublisherReport report) {
    Registration one = report.registered().registration();
    models.add(List.of(one.publisher().tenantId(), one.table().model()));
    workers.add(List.of(one.publisher().tenantId(), one.publisher().instanceId()));
    listeners[STATUSES.indexOf(WorkersJson.status(report.state()))]++;
  }

  List<GaugeSnapshot> snapshots() {
    GaugeSnapshot.Builder byStatus =
        GaugeSnapshot.builder().name(PREFIX + "listeners").help("publishers by status");
    for (int i = 0; i < listeners.length; i++) {
      byStatus.dataPoint(point(Labels.of("status", STATUSES.get(i)), listeners[i]));
    }
    return List.of(
        single("models", "pairs of model and tenant", models.size()),
        single("workers", "registered instances", workers.size()),
        byStatus.build());
  }

  private static GaugeSnapshot single(String name, String help, int value) {
    return GaugeSnapshot.builder()
        .name(PREFIX + name)
        .help(help)
        .dataPoint(point(Labels.EMPTY, value))
        .build();
  }

  private static GaugeDataPointSnapshot point(Labels labels, int value) {
    return GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
  }
}
