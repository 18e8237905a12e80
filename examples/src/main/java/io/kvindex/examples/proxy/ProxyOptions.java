// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How the proxy works.
 *
 * @param bind address to listen on
 * @param port TCP port, 0 = any free one
 * @param engines base address by {@code instance_id}
 * @param index base addresses of kvindex's replicas
 * @param tenant {@code tenant_id} of the registrations
 * @param baseModel model the adapters belong to, null where there are none
 * @param adapters models of requests that are LoRA adapters
 * @param blockSize null = the only one that is registered for the model
 * @param deadline longest time kvindex may take
 * @param tokenizeTimeout longest time an engine may take for the tokens of a text
 * @param loadTokens what a request in flight weighs, in cached tokens
 * @param coolDown how long an engine that refused is asked last; one lost attempt a second harms
 *     nobody
 * @param maxInFlight most requests at a time; more are 429
 * @param maxBodyBytes longest request; more is 413
 * @param engineTimeout longest time to an answer's first byte, and between pieces of it
 */
record ProxyOptions(
    String bind,
    int port,
    Map<String, URI> engines,
    List<URI> index,
    String tenant,
    @Nullable String baseModel,
    Set<String> adapters,
    @Nullable Integer blockSize,
    Duration deadline,
    Duration tokenizeTimeout,
    int loadTokens,
    Duration coolDown,
    int maxInFlight,
    int maxBodyBytes,
    Duration engineTimeout) {}
