// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import io.kvindex.query.http.RequestObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * The request metrics of Dynamo's standalone indexer under their names, for dashboards that know
 * them. {@code /metrics} itself is not measured. Source: its {@code metrics.rs}, v1.3.
 */
public final class DynamoMeters implements RequestObserver {
  private static final String PREFIX = "dynamo.kvindexer.";
  private static final String UNKNOWN = "unknown";
  private static final int BUCKETS = 20;
  private static final int CLIENT_ERROR = 400;
  private static final int SERVER_ERROR = 500;

  private static final Set<String> METHODS = Set.of("GET", "POST", "PUT", "DELETE", "HEAD");

  private record Errors(Counter client, Counter server) {}

  private record Endpoint(String name, Timer duration, Map<String, Counter> requests) {}

  private final MeterRegistry registry;

  /** What a label may say: a path is the client's text and may be anything. */
  private volatile Set<String> served = Set.of();

  private final Map<String, Endpoint> endpoints = new ConcurrentHashMap<>();
  private final Map<String, Errors> errors = new ConcurrentHashMap<>();

  public DynamoMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Tells which paths are served; until then all are unknown. */
  public void serve(Set<String> paths) {
    served = Set.copyOf(paths);
  }

  @Override
  public void completed(Request request, int status, long nanos) {
    String path = request.getHttpURI().getCanonicalPath();
    if ("/metrics".equals(path)) {
      return;
    }
    Endpoint endpoint = endpoint(path);
    requests(endpoint, request.getMethod()).increment();
    endpoint.duration().record(nanos, TimeUnit.NANOSECONDS);
    if (status >= CLIENT_ERROR) {
      Errors failed = errors.computeIfAbsent(endpoint.name(), this::errors);
      (status >= SERVER_ERROR ? failed.server() : failed.client()).increment();
    }
  }

  /** Looked up before it is made: the latter may lock. */
  private Endpoint endpoint(@Nullable String path) {
    Endpoint known = path == null ? null : endpoints.get(path);
    if (known != null) {
      return known;
    }
    String name = path != null && served.contains(path) ? path : UNKNOWN;
    return endpoints.computeIfAbsent(
        name, key -> new Endpoint(key, duration(key), new ConcurrentHashMap<>()));
  }

  private Counter requests(Endpoint endpoint, String method) {
    Counter known = endpoint.requests().get(method);
    if (known != null) {
      return known;
    }
    String name = METHODS.contains(method) ? method : UNKNOWN;
    return endpoint.requests().computeIfAbsent(name, key -> requests(endpoint.name(), key));
  }

  private Counter requests(String endpoint, String method) {
    return Counter.builder(PREFIX + "requests")
        .description("HTTP requests")
        .tag("endpoint", endpoint)
        .tag("method", method)
        .register(registry);
  }

  private Timer duration(String endpoint) {
    Duration[] bounds = new Duration[BUCKETS];
    Arrays.setAll(bounds, i -> Duration.ofNanos(100_000L << i));
    return Timer.builder(PREFIX + "request.duration")
        .description("Time from the first byte of a request to its answer")
        .tag("endpoint", endpoint)
        .serviceLevelObjectives(bounds)
        .register(registry);
  }

  private Errors errors(String endpoint) {
    return new Errors(error(endpoint, "4xx"), error(endpoint, "5xx"));
  }

  private Counter error(String endpoint, String statusClass) {
    return Counter.builder(PREFIX + "errors")
        .description("HTTP answers that are errors")
        .tag("endpoint", endpoint)
        .tag("status_class", statusClass)
        .register(registry);
  }
}
