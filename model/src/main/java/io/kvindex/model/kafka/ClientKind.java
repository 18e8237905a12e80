// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.kafka;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;

/**
 * A kind of Kafka client and which of a site's settings it gets. A name without prefix is for every
 * client, below what kvindex sets for that one itself; a name with the prefix of a kind is for all
 * clients of that kind, above it. The prefixes are Kafka Streams' own, so that one map serves plain
 * clients and Streams.
 */
public enum ClientKind {
  ADMIN("admin."),
  CONSUMER("consumer."),
  PRODUCER("producer.");

  /** Prefixes of a kind of client, those only Kafka Streams knows among them. */
  public static final List<String> PREFIXES =
      List.of("main.consumer.", CONSUMER.prefix, PRODUCER.prefix, ADMIN.prefix);

  /**
   * Longest pause of an events client between two tries to ask or to connect, in ms. With Kafka's
   * own 1,000 each of them may look for a dead broker's partitions a second after others lead them;
   * a request four times a second while they do not is no load.
   */
  public static final int RETRY_BACKOFF_MAX_MS = 250;

  private final String prefix;

  ClientKind(String prefix) {
    this.prefix = prefix;
  }

  /**
   * Settings of one client.
   *
   * @param site the site's settings, {@code bootstrap.servers} at least
   * @param own what kvindex sets for this client
   * @return a new map, the caller's to change
   */
  public Map<String, Object> settings(Map<String, ?> site, Map<String, ?> own) {
    Map<String, Object> settings = new HashMap<>();
    // Kafka's clients put each of their some hundred metrics in JMX, at every start, for nobody.
    settings.put(CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG, "");
    site.forEach(
        (name, value) -> {
          if (PREFIXES.stream().noneMatch(name::startsWith)) {
            settings.put(name, value);
          }
        });
    settings.putAll(own);
    site.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            settings.put(name.substring(prefix.length()), value);
          }
        });
    return settings;
  }
}
