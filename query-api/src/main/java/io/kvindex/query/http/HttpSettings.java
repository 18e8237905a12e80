// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.time.Duration;

/**
 * Where and within which bounds the server works.
 *
 * @param bind address to listen on
 * @param port TCP port, 0 = any free one
 * @param maxBodyBytes longest request body; more is 413
 * @param maxItems most tokens or hashes in one query; more is 413
 * @param maxInFlight most queries read or answered at a time; more is 429
 * @param maxControl most other requests than GET at a time; more is 429. They may wait for Kafka,
 *     so they must never take all threads
 * @param maxThreads most server threads
 * @param idleTimeout silence after which a connection is closed
 */
public record HttpSettings(
    String bind,
    int port,
    int maxBodyBytes,
    int maxItems,
    int maxInFlight,
    int maxControl,
    int maxThreads,
    Duration idleTimeout) {

  /** Port of a site that says nothing else. */
  public static final int DEFAULT_PORT = 13333;

  /** Loopback only, 8 MiB bodies. */
  public static final HttpSettings DEFAULT =
      new HttpSettings(
          "127.0.0.1", DEFAULT_PORT, 8 << 20, 1 << 20, 256, 16, 64, Duration.ofSeconds(30));

  public HttpSettings {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0..65535, got " + port);
    }
    if (maxBodyBytes < 1 || maxItems < 1 || maxInFlight < 1 || maxControl < 1) {
      throw new IllegalArgumentException("every HTTP limit must be positive: body " + maxBodyBytes);
    }
    if (maxThreads < maxControl + 8) {
      throw new IllegalArgumentException(
          "maxThreads must leave 8 threads beside maxControl, got " + maxThreads);
    }
  }

  /** The same settings on another address. */
  public HttpSettings at(String address, int tcpPort) {
    return new HttpSettings(
        address, tcpPort, maxBodyBytes, maxItems, maxInFlight, maxControl, maxThreads, idleTimeout);
  }
}
