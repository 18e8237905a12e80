// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.util.List;
import java.util.Map;

/**
 * How clients have to prove who they are. The broker's own traffic keeps to a listener on the
 * loopback address that clients are not told of.
 *
 * @param protocol {@code SSL}, {@code SASL_SSL} or {@code SASL_PLAINTEXT}
 * @param settings Kafka's broker settings of the clients' listener, without the listener's prefix
 * @param scramUsers users made when the directory is new, as {@code kafka-storage.sh --add-scram}
 *     takes them: {@code SCRAM-SHA-512=[name=...,password=...]}
 */
public record ListenerSecurity(
    String protocol, Map<String, String> settings, List<String> scramUsers) {

  public ListenerSecurity {
    settings = Map.copyOf(settings);
    scramUsers = List.copyOf(scramUsers);
  }

  /** Without secrets. */
  @Override
  public String toString() {
    return protocol;
  }
}
