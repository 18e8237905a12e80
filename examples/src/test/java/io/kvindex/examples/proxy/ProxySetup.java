// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.examples.engine.SimulatedServer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Options of proxies under test: patient ones, so that only what a test slows down is late. */
final class ProxySetup {

  static final Duration PATIENT = Duration.ofSeconds(5);

  private ProxySetup() {}

  static ProxyOptions options(int loadTokens, Map<String, URI> engines, URI... index) {
    return new ProxyOptions(
        "127.0.0.1",
        0,
        engines,
        List.of(index),
        "default",
        null,
        Set.of(),
        null,
        PATIENT,
        PATIENT,
        loadTokens,
        Duration.ofSeconds(30),
        16,
        1 << 20,
        Duration.ofSeconds(30));
  }

  /** The same with another deadline for kvindex. */
  static ProxyOptions withDeadline(ProxyOptions o, Duration deadline) {
    return new ProxyOptions(
        o.bind(),
        o.port(),
        o.engines(),
        o.index(),
        o.tenant(),
        o.baseModel(),
        o.adapters(),
        o.blockSize(),
        deadline,
        o.tokenizeTimeout(),
        o.loadTokens(),
        o.coolDown(),
        o.maxInFlight(),
        o.maxBodyBytes(),
        o.engineTimeout());
  }

  /** The same with adapters, and small limits of requests and bodies. */
  static ProxyOptions strict(ProxyOptions o) {
    return new ProxyOptions(
        o.bind(),
        o.port(),
        o.engines(),
        o.index(),
        o.tenant(),
        "base",
        Set.of("sql"),
        16,
        o.deadline(),
        o.tokenizeTimeout(),
        o.loadTokens(),
        o.coolDown(),
        1,
        1_000,
        o.engineTimeout());
  }

  /** The same, impatient with engines. */
  static ProxyOptions withEngineTimeout(ProxyOptions o, Duration engineTimeout) {
    return new ProxyOptions(
        o.bind(),
        o.port(),
        o.engines(),
        o.index(),
        o.tenant(),
        o.baseModel(),
        o.adapters(),
        o.blockSize(),
        o.deadline(),
        o.tokenizeTimeout(),
        o.loadTokens(),
        o.coolDown(),
        o.maxInFlight(),
        o.maxBodyBytes(),
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
