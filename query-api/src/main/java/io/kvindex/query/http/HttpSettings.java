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
 * @param maxControl most other requests than GET at a time; more wait for their turn. They may wait
 *     for Kafka, so they must never take all threads
 * @param maxThreads most server threads
 * @param idleTimeout silence after which a connection is closed
 * @param maxControlWaiting most of them that wait for their turn; more is 429
 * @param controlPatience longest wait for a turn; longer is 429
 */
public record HttpSettings(
    String bind,
    int port,
    int maxBodyBytes,
    int maxItems,
    int maxInFlight,
    int maxControl,
    int maxThreads,
    Duration idleTimeout,
    int maxControlWaiting,
    Duration controlPatience) {

  private static final int CONTROL_WAITING = 256;
  private static final Duration CONTROL_PATIENCE = Duration.ofSeconds(5);

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

  /** Those where {@value #CONTROL_WAITING} requests wait for 5 s at most. */
  public HttpSettings(
      String bind,
      int port,
      int maxBodyBytes,
      int maxItems,
      int maxInFlight,
      int maxControl,
      int maxThreads,
      Duration idleTimeout) {
    this(
        bind,
        port,
        maxBodyBytes,
        maxItems,
        maxInFlight,
        maxControl,
        maxThreads,
        idleTimeout,
        CONTROL_WAITING,
        CONTROL_PATIENCE);
  }

  /** The same settings on another address. */
  public HttpSettings at(String address, int tcpPort) {
    return new HttpSettings(
        address,
        tcpPort,
        maxBodyBytes,
        maxItems,
        maxInFlight,
        maxControl,
        maxThreads,
        idleTimeout,
        maxControlWaiting,
        controlPatience);
  }
}
