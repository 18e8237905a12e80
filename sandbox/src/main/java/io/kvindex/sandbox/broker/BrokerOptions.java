// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.nio.file.Path;

/**
 * Where the embedded broker keeps its data and where it listens.
 *
 * @param dataDir the broker's own directory, created when absent; nothing else may live in it
 * @param host address to bind and to advertise; an address clients can reach, not a wildcard
 * @param port client port, 1..65535, or 0 for a free one chosen anew at each start
 */
public record BrokerOptions(Path dataDir, String host, int port) {
  /** Loopback: the embedded broker has no authentication, so nobody else should reach it. */
  public static final String DEFAULT_HOST = "127.0.0.1";

  public BrokerOptions {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0..65535, got " + port);
    }
    if (host.isBlank()) {
      throw new IllegalArgumentException("host must not be blank");
    }
  }

  /** A broker on {@code dataDir}, on loopback, on a free port. */
  public static BrokerOptions in(Path dataDir) {
    return new BrokerOptions(dataDir, DEFAULT_HOST, 0);
  }

  /** The same with another address to bind and to advertise. */
  public BrokerOptions withHost(String newHost) {
    return new BrokerOptions(dataDir, newHost, port);
  }

  /** The same with another client port; 0 = any free one. */
  public BrokerOptions withPort(int newPort) {
    return new BrokerOptions(dataDir, host, newPort);
  }
}
