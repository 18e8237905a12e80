// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;

/**
 * A node's place in a cluster of brokers. Every node is broker and controller; the controllers'
 * addresses are the same at all of them and stay as they are.
 *
 * @param name the cluster's, the same at every node; Kafka's cluster id is made of it
 * @param nodeId this node, one of {@code voters}
 * @param voters where each node's controller listens, {@code host:port} by node
 */
public record BrokerCluster(String name, int nodeId, SortedMap<Integer, String> voters) {

  /** Most copies of Kafka's own topics; more bring nothing to a cluster of this size. */
  private static final int MOST_COPIES = 3;

  private static final int MOST_PORT = 65_535;

  public BrokerCluster {
    if (name.isBlank()) {
      throw new IllegalArgumentException("the cluster's name must not be blank");
    }
    voters = Collections.unmodifiableSortedMap(new TreeMap<>(voters));
    if (!voters.containsKey(nodeId)) {
      throw new IllegalArgumentException(
          "node " + nodeId + " is none of the voters (--voters) " + text(voters));
    }
  }

  /**
   * The same with voters as Kafka writes them.
   *
   * @param voters {@code id@host:port}, separated by commas
   * @throws IllegalArgumentException if they are not, or this node is none of them
   */
  public static BrokerCluster of(String name, int nodeId, String voters) {
    SortedMap<Integer, String> byId = new TreeMap<>();
    for (String voter : voters.split(",", -1)) {
      int at = voter.indexOf('@');
      int colon = voter.lastIndexOf(':');
      try {
        int id = Integer.parseInt(voter.substring(0, Math.max(0, at)).strip());
        int port = Integer.parseInt(voter.substring(colon + 1).strip());
        String host = voter.substring(at + 1, Math.max(at + 1, colon)).strip();
        if (id < 0 || port < 1 || port > MOST_PORT || host.isEmpty()) {
          throw new NumberFormatException("out of range");
        }
        if (byId.put(id, host + ":" + port) != null) {
          throw new IllegalArgumentException("two voters are node " + id);
        }
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("voter `" + voter + "` is not id@host:port", e);
      }
    }
    return new BrokerCluster(name, nodeId, byId);
  }

  /** As Kafka writes them: {@code id@host:port,...}. */
  String voterText() {
    return text(voters);
  }

  private static String text(SortedMap<Integer, String> voters) {
    return voters.entrySet().stream()
        .map(voter -> voter.getKey() + "@" + voter.getValue())
        .collect(Collectors.joining(","));
  }

  /** This node's controller, {@code host:port}. */
  String controller() {
    return String.valueOf(voters.get(nodeId));
  }

  String controllerHost() {
    return controller().substring(0, controller().lastIndexOf(':'));
  }

  int controllerPort() {
    String address = controller();
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /** Copies of each partition. */
  int copies() {
    return Math.min(MOST_COPIES, voters.size());
  }

  /** Copies that must have a record before it is acknowledged: one broker may be away. */
  int leastCopies() {
    return Math.max(1, copies() - 1);
  }

  /** Kafka's, the same for the same name. */
  String clusterId() {
    UUID uuid = UUID.nameUUIDFromBytes(name.getBytes(UTF_8));
    return new Uuid(uuid.getMostSignificantBits(), uuid.getLeastSignificantBits()).toString();
  }
}
