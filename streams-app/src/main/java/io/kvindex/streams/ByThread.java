// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.CommonClientConfigs;
import org.jspecify.annotations.Nullable;

/**
 * One kind of client by the stream thread it belongs to, which Kafka Streams names it after.
 * Thread-safe.
 *
 * @param <C> the client
 */
final class ByThread<C> {

  private final String suffix;
  private final Map<String, C> clients = new ConcurrentHashMap<>();

  /**
   * @param suffix of the client's id, behind the thread's name
   */
  ByThread(String suffix) {
    this.suffix = suffix;
  }

  /** Notes a client that was made with these settings; one of no thread is left out. */
  void note(Map<String, Object> config, C client) {
    String id = String.valueOf(config.get(CommonClientConfigs.CLIENT_ID_CONFIG));
    if (id.endsWith(suffix)) {
      clients.put(id.substring(0, id.length() - suffix.length()), client);
    }
  }

  /** The newest one of the calling thread, null = it has none. */
  @Nullable C ofThisThread() {
    return clients.get(Thread.currentThread().getName());
  }
}
