// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Kafka settings of the single combined node; values measured for one machine and one client. */
final class BrokerSettings {
  static final int NODE_ID = 1;
  static final String CONTROLLER_LISTENER = "CONTROLLER";

  private BrokerSettings() {}

  static Map<String, String> of(Path logDir, String host, int port, int controllerPort) {
    Map<String, String> settings = new LinkedHashMap<>();
    identity(settings, logDir, host, port, controllerPort);
    singleReplica(settings);
    fastRestart(settings);
    smallFootprint(settings);
    return settings;
  }

  private static void identity(
      Map<String, String> settings, Path logDir, String host, int port, int controllerPort) {
    String controller = at(host, controllerPort);
    settings.put("process.roles", "broker,controller");
    settings.put("node.id", Integer.toString(NODE_ID));
    settings.put("controller.quorum.voters", NODE_ID + "@" + controller);
    settings.put("controller.listener.names", CONTROLLER_LISTENER);
    settings.put(
        "listeners",
        "PLAINTEXT://" + at(host, port) + "," + CONTROLLER_LISTENER + "://" + controller);
    settings.put("advertised.listeners", "PLAINTEXT://" + at(host, port));
    settings.put(
        "listener.security.protocol.map",
        "PLAINTEXT:PLAINTEXT," + CONTROLLER_LISTENER + ":PLAINTEXT");
    settings.put("inter.broker.listener.name", "PLAINTEXT");
    settings.put("log.dirs", logDir.toString());
    settings.put("auto.create.topics.enable", "false");
  }

  /** IPv6 literals need brackets in a listener. */
  static String at(String host, int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  private static void singleReplica(Map<String, String> settings) {
    settings.put("default.replication.factor", "1");
    settings.put("min.insync.replicas", "1");
    settings.put("offsets.topic.replication.factor", "1");
    settings.put("offsets.topic.num.partitions", "1");
    settings.put("transaction.state.log.replication.factor", "1");
    settings.put("transaction.state.log.min.isr", "1");
    settings.put("transaction.state.log.num.partitions", "1");
    settings.put("share.coordinator.state.topic.replication.factor", "1");
    settings.put("share.coordinator.state.topic.min.isr", "1");
    settings.put("share.coordinator.state.topic.num.partitions", "1");
  }

  /**
   * After a kill -9 the controller still holds the old registration for a whole broker session:
   * with Kafka's 9 s a restart takes 11-13 s, with these 5-6 s. Less is no gain: a node too busy to
   * send itself a heartbeat for 1.5 s took the leadership of all partitions away from itself, and
   * transactions hung meanwhile. Segments of at most 128 MiB bound what an unclean start has to
   * scan. Consumers of one machine may fail over faster than Kafka's 6 s floor allows.
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
   * The cleaner remembers 24 bytes a key: with too small a buffer it reads a changelog of millions
   * of rows again and again. 64 MiB hold 2.4 million keys a pass.
   */
  private static void smallFootprint(Map<String, String> settings) {
    settings.put("num.network.threads", "2");
    settings.put("num.io.threads", "2");
    settings.put("log.cleaner.dedupe.buffer.size", Integer.toString(64 << 20));
  }
}
