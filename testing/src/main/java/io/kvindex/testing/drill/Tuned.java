// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.util.List;

/**
 * Flags with which a process that died is missed sooner than by default, and nothing waits to
 * travel with others. For machines that are not overloaded: who can not be heard of for so long is
 * thought dead.
 */
final class Tuned {

  private static final String SESSION = "broker.session.timeout.ms=700";

  private static final List<String> BROKER =
      List.of("--property " + SESSION, "--property broker.heartbeat.interval.ms=100");

  private static final List<String> BRIDGE =
      List.of(
          "--kafka-property consumer.session.timeout.ms=2500",
          "--kafka-property producer.linger.ms=0");

  private Tuned() {}

  /**
   * Whether a cluster was started so.
   *
   * @param settings what its directory remembers
   */
  static boolean isIn(String settings) {
    return settings.contains(SESSION);
  }

  /** For {@code local-cluster.sh start}. */
  static List<String> options() {
    return List.of(
        "--broker-args", String.join(" ", BROKER),
        "--bridge-args", String.join(" ", BRIDGE));
  }
}
