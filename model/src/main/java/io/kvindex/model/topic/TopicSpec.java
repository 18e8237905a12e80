// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import java.util.Map;

/**
 * A topic as kvindex needs it.
 *
 * @param name topic name
 * @param partitions exact partition count
 * @param replication copies when we create it; an existing topic keeps its own
 * @param config topic configuration when we create it; {@code cleanup.policy} must also hold for an
 *     existing one
 * @param holds what would be lost with it, for messages to people
 */
public record TopicSpec(
    String name, int partitions, short replication, Map<String, String> config, String holds) {

  public TopicSpec {
    config = Map.copyOf(config);
  }
}
