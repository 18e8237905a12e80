// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.examples.engine.SimulatedServer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Options of proxies under test: patient ones, so that only what a test slows down is late. */
final class ProxySetup {

  private static final Duration PATIENT = Duration.ofSeconds(5);

  private final int loadTokens;
  private final Map<String, URI> engines;
  private final List<URI> index;
  private @Nullable String baseModel;
  private Set<String> adapters = Set.of();
  private @Nullable Integer blockSize;
  private Duration deadline = PATIENT;
  private int maxInFlight = 16;
  private int maxBodyBytes = 1 << 20;
  private Duration engineTimeout = Duration.ofSeconds(30);

  private ProxySetup(int loadTokens, Map<String, URI> engines, List<URI> index) {
    this.loadTokens = loadTokens;
    this.engines = engines;
    this.index = index;
  }

  static ProxySetup of(int loadTokens, Map<String, URI> engines, URI... index) {
    return new ProxySetup(loadTokens, engines, List.of(index));
  }

  /** Another deadline for kvindex. */
  ProxySetup deadline(Duration longest) {
    deadline = longest;
    return this;
  }

  /** With adapters, and small limits of requests and bodies. */
  ProxySetup strict() {
    baseModel = "base";
    adapters = Set.of("sql");
    blockSize = 16;
    maxInFlight = 1;
    maxBodyBytes = 1_000;
    return this;
  }

  /** Another patience with engines. */
  ProxySetup engineTimeout(Duration longest) {
    engineTimeout = longest;
    return this;
  }

  ProxyOptions options() {
    return new ProxyOptions(
        "127.0.0.1",
        0,
        engines,
        index,
        "default",
        baseModel,
        adapters,
        blockSize,
        deadline,
        PATIENT,
        loadTokens,
        Duration.ofSeconds(30),
        maxInFlight,
        maxBodyBytes,
        engineTimeout);
  }

  /** What registers an engine. */
  static ObjectNode registration(SimulatedServer server, int blockSize) {
    return ProxyClient.JSON
        .createObjectNode()
        .put("type", "vLLM")
        .put("instance_id", server.engine().options().name())
        .put("modelname", ProxyClient.MODEL)
        .put("block_size", blockSize)
        .put("endpoint", server.engine().endpoint())
        .put("replay_endpoint", server.engine().replayEndpoint());
  }
}
