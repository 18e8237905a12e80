// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import org.jspecify.annotations.Nullable;

/** Kafka settings of a combined node; values measured for one machine and one client. */
final class BrokerSettings {
  static final int NODE_ID = 1;
  static final String CONTROLLER_LISTENER = "CONTROLLER";

  private static final int QUORUM_WAIT_MS = 300_000;
  private static final String OPEN_LISTENER = "PLAINTEXT";

  private BrokerSettings() {}

  /** After so long a node misses the one that leads the controllers, which answers within 500. */
  private static final int MISSED_MS = 700;

  /** More than it takes to be elected. */
  private static final int APART_MS = 150;

  private static final int NODES_APART = 3;

  /** Beginnings of names of who a node is, where it is, and what keeps records safe. */
  private static final List<String> OURS =
      List.of(
          "process.roles",
          "node.id",
          "broker.id",
          "log.dir",
          "metadata.log.dir",
          "listener",
          "advertised.listeners",
          "inter.broker.listener",
          "controller.listener",
          "controller.quorum.voters",
          "controller.quorum.bootstrap",
          "unclean.leader.election");

  /**
   * Ports of a node.
   *
   * @param clients where clients connect
   * @param controller of the metadata quorum
   */
  record Ports(int clients, int controller) {}

  static Map<String, String> of(BrokerOptions options, Path logDir, Ports ports) {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("process.roles", "broker,controller");
    settings.put("node.id", Integer.toString(options.nodeId()));
    settings.put("log.dirs", logDir.toString());
    settings.put("auto.create.topics.enable", "false");
    quorum(settings, options, ports);
    listeners(settings, options, ports);
    replicas(settings, options.cluster());
    fastRestart(settings);
    if (options.cluster() != null) {
      fastTakeOver(settings, options.nodeId());
    }
    smallFootprint(settings);
    settings.putAll(options.properties());
    return settings;
  }

  /** Refuses names Kafka does not know and those that other options decide. */
  static void check(Map<String, String> properties) {
    for (String name : properties.keySet()) {
      boolean ours = OURS.stream().anyMatch(name::startsWith);
      if (ours || !KafkaConfig.configDef().names().contains(name)) {
        throw new IllegalArgumentException(
            "broker setting "
                + name
                + (ours ? " is decided by other flags" : " is no setting of Kafka's brokers"));
      }
    }
  }

  private static void quorum(Map<String, String> settings, BrokerOptions options, Ports ports) {
    BrokerCluster cluster = options.cluster();
    settings.put("controller.listener.names", CONTROLLER_LISTENER);
    settings.put(
        "controller.quorum.voters",
        cluster == null
            ? NODE_ID + "@" + at(options.host(), ports.controller())
            : cluster.voterText());
    if (cluster != null) {
      // Machines boot one after the other.
      settings.put("initial.broker.registration.timeout.ms", Integer.toString(QUORUM_WAIT_MS));
    }
  }

  private static void listeners(Map<String, String> settings, BrokerOptions options, Ports ports) {
    BrokerCluster cluster = options.cluster();
    String controller =
        CONTROLLER_LISTENER
            + "://"
            + (cluster == null ? at(options.host(), ports.controller()) : cluster.controller());
    String clients = OPEN_LISTENER + "://" + at(options.host(), ports.clients());
    settings.put("listeners", clients + "," + controller);
    settings.put("advertised.listeners", clients);
    settings.put(
        "listener.security.protocol.map",
        CONTROLLER_LISTENER + ":PLAINTEXT," + OPEN_LISTENER + ":PLAINTEXT");
    settings.put("inter.broker.listener.name", OPEN_LISTENER);
  }

  /** IPv6 literals need brackets in a listener. */
  static String at(String host, int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /**
   * Copies of topics that say nothing of it, as Kafka's own. With three, a record is acknowledged
   * by two: one broker may be away.
   */
  private static void replicas(Map<String, String> settings, @Nullable BrokerCluster cluster) {
    String copies = Integer.toString(cluster == null ? 1 : cluster.copies());
    String least = Integer.toString(cluster == null ? 1 : cluster.leastCopies());
    settings.put("default.replication.factor", copies);
    settings.put("min.insync.replicas", least);
    settings.put("offsets.topic.replication.factor", copies);
    settings.put("offsets.topic.num.partitions", copies);
    settings.put("share.coordinator.state.topic.replication.factor", copies);
    settings.put("share.coordinator.state.topic.min.isr", least);
    settings.put("share.coordinator.state.topic.num.partitions", "1");
  }

  /**
   * After a kill -9 the controller still holds the old registration for a whole broker session:
   * with Kafka's 9 s a restart takes 11-13 s, with these 5-6 s. Less is no gain: a node too busy to
   * send itself a heartbeat for 1.5 s took the leadership of all partitions away from itself.
   * Segments of at most 128 MiB bound what an unclean start has to scan. Consumers of one machine
   * may fail over faster than Kafka's 6 s floor allows.
   */
  private static void fastRestart(Map<String, String> settings) {
    settings.put("controlled.shutdown.enable", "true");
    settings.put("broker.session.timeout.ms", "4000");
    settings.put("broker.heartbeat.interval.ms", "500");
    settings.put("log.segment.bytes", Integer.toString(128 << 20));
    settings.put("group.initial.rebalance.delay.ms", "0");
    settings.put("group.min.session.timeout.ms", "1000");
  }

  /**
   * Where others can take over, each second until they do is one of stale answers: a broker that
   * led the controllers is missed by those first, then by the one they elect. Nodes miss it one
   * after the other, as two that do at the same moment vote for themselves, and again after more
   * than a second (Kafka 4.3.1 draws the time of an election by lot, not that of missing a leader).
   */
  private static void fastTakeOver(Map<String, String> settings, int nodeId) {
    settings.put("broker.session.timeout.ms", "2000");
    settings.put("broker.heartbeat.interval.ms", "200");
    settings.put(
        "controller.quorum.fetch.timeout.ms",
        Integer.toString(MISSED_MS + APART_MS * (nodeId % NODES_APART)));
    settings.put("controller.quorum.election.timeout.ms", "500");
    settings.put("controller.quorum.election.backoff.max.ms", "200");
    // A follower that failed to reach the dead leader is to read from the new one at once: what
    // that one is sent counts when the follower has it too.
    settings.put("replica.fetch.backoff.ms", "250");
  }

  /**
   * The cleaner remembers 24 bytes a key: 8 MiB hold 300,000 a pass, many more than compacted
   * topics have.
   */
  private static void smallFootprint(Map<String, String> settings) {
    // Nobody reads them in JMX, and they would be put there at each start.
    settings.put("metric.reporters", "");
    settings.put("num.network.threads", "2");
    settings.put("num.io.threads", "2");
    settings.put("log.cleaner.dedupe.buffer.size", Integer.toString(8 << 20));
  }
}
