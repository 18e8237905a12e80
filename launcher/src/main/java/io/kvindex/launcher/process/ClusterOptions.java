// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.util.List;
import picocli.CommandLine.Option;

/** The same for who creates topics that are missing: in which shape. */
final class ClusterOptions extends KafkaOptions {

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

  /** Creates missing topics, checks the others. */
  SiteTopics ensureTopics() throws InterruptedException {
    return ClusterTopics.ensure(kafka(), eventPartitions, replication, ClusterTopics.UNBOUNDED);
  }

  /** See {@link ClusterTopics#repair}. */
  List<String> repairTopics(boolean always) throws InterruptedException {
    return ClusterTopics.repair(
        kafka(), eventPartitions, replication, ClusterTopics.UNBOUNDED, always);
  }
}
