// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the embedded broker keeps its data, where it listens, and whether it is alone.
 *
 * @param dataDir the broker's own directory, created when absent; nothing else may live in it
 * @param host address to bind and to advertise; an address clients can reach, not a wildcard
 * @param port client port, 1..65535, or 0 for a free one chosen anew at each start
 * @param cluster this node's place among others, null = it is alone
 * @param properties settings of Kafka's brokers above ours, any; see {@link #withProperties}
 */
public record BrokerOptions(
    Path dataDir,
    String host,
    int port,
    @Nullable BrokerCluster cluster,
    Map<String, String> properties) {
  /** Loopback: a broker without authentication should be reached by nobody else. */
  public static final String DEFAULT_HOST = "127.0.0.1";

  public BrokerOptions {
    properties = Map.copyOf(properties);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0..65535, got " + port);
    }
    if (host.isBlank()) {
      throw new IllegalArgumentException("host must not be blank");
    }
  }

  /** A broker on {@code dataDir}, on loopback, on a free port, alone. */
  public static BrokerOptions in(Path dataDir) {
    return new BrokerOptions(dataDir, DEFAULT_HOST, 0, null, Map.of());
  }

  /** The same with another address to bind and to advertise. */
  public BrokerOptions withHost(String newHost) {
    return new BrokerOptions(dataDir, newHost, port, cluster, properties);
  }

  /** The same with another client port; 0 = any free one. */
  public BrokerOptions withPort(int newPort) {
    return new BrokerOptions(dataDir, host, newPort, cluster, properties);
  }

  /** The same as a node of a cluster. */
  public BrokerOptions withCluster(BrokerCluster newCluster) {
    return new BrokerOptions(dataDir, host, port, newCluster, properties);
  }

  /**
   * The same with other settings of Kafka's brokers.
   *
   * @throws IllegalArgumentException if there is no such setting, or it is not to be chosen
   */
  public BrokerOptions withProperties(Map<String, String> newProperties) {
    BrokerSettings.check(newProperties);
    return new BrokerOptions(dataDir, host, port, cluster, newProperties);
  }

  /** This node. */
  int nodeId() {
    return cluster == null ? BrokerSettings.NODE_ID : cluster.nodeId();
  }
}
