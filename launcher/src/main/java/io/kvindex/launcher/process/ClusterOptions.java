// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** Which Kafka cluster a process uses, and in which shape it creates topics that are missing. */
final class ClusterOptions {

  private static final long UNBOUNDED = -1;

  @Option(
      names = "--kafka",
      paramLabel = "HOST:PORT",
      description = "Kafka bootstrap servers, separated by commas (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_KAFKA:-127.0.0.1:9092}")
  private String kafka;

  @Option(
      names = "--event-partitions",
      paramLabel = "N",
      description =
          "Partitions of the events topic where it does not exist yet (default: ${DEFAULT-VALUE}).",
      defaultValue = "12")
  private int eventPartitions;

  @Option(
      names = "--replication",
      paramLabel = "N",
      description = "Copies of topics that do not exist yet (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private short replication;

  String bootstrapServers() {
    return kafka;
  }

  /** Creates missing topics, checks the others. */
  SiteTopics ensureTopics() throws InterruptedException {
    return ClusterTopics.ensure(
        Map.of("bootstrap.servers", kafka), eventPartitions, replication, UNBOUNDED);
  }

  /** See {@link ClusterTopics#repair}. */
  List<String> repairTopics(boolean always) throws InterruptedException {
    return ClusterTopics.repair(
        Map.of("bootstrap.servers", kafka), eventPartitions, replication, UNBOUNDED, always);
  }
}
