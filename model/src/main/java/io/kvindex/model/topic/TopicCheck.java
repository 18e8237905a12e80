// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Start-up check of the topics: creates those that are missing and refuses to go on where an
 * existing one would make kvindex wrong, saying what does not fit and what would be lost.
 */
public final class TopicCheck {

  private static final Logger LOG = LoggerFactory.getLogger(TopicCheck.class);
  private static final String POLICY = "cleanup.policy";

  private final Admin admin;
  private final long timeoutMs;

  /**
   * @param admin stays open, the caller closes it
   * @param timeoutMs longest wait for each answer of the cluster, milliseconds
   */
  public TopicCheck(Admin admin, long timeoutMs) {
    this.admin = admin;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Creates what is missing and checks the rest.
   *
   * @throws TopicMismatchException if a topic has another partition count or cleanup policy than
   *     needed
   * @throws TimeoutException if the cluster does not answer in time
   */
  public void ensure(Collection<TopicSpec> specs)
      throws TimeoutException, InterruptedException, ExecutionException {
    Set<String> existing =
        new HashSet<>(admin.listTopics().names().get(timeoutMs, TimeUnit.MILLISECONDS));
    for (TopicSpec spec : specs) {
      if (!existing.contains(spec.name())) {
        create(spec);
      }
    }
    List<String> problems = new ArrayList<>();
    Map<String, TopicDescription> descriptions = describe(specs);
    Map<ConfigResource, Config> configs = configs(specs);
    for (TopicSpec spec : specs) {
      TopicDescription description = descriptions.get(spec.name());
      Config config = configs.get(new ConfigResource(ConfigResource.Type.TOPIC, spec.name()));
      if (description != null && config != null) {
        check(spec, description.partitions().size(), config.get(POLICY).value(), problems);
        tellOthers(spec, config);
      }
    }
    if (!problems.isEmpty()) {
      throw new TopicMismatchException(String.join("; ", problems));
    }
  }

  private static void check(TopicSpec spec, int partitions, String policy, List<String> problems) {
    String wanted = spec.config().getOrDefault(POLICY, policy);
    if (partitions != spec.partitions()) {
      problems.add(
          "topic "
              + spec.name()
              + " has "
              + partitions
              + " partitions, "
              + spec.partitions()
              + " are needed");
    }
    if (!policy.equals(wanted)) {
      problems.add(
          "topic "
              + spec.name()
              + " has cleanup.policy="
              + policy
              + ", "
              + wanted
              + " is needed, else "
              + spec.holds()
              + " would be lost");
    }
  }

  /** What an operator may have chosen is left alone; it may also be an older version's choice. */
  private static void tellOthers(TopicSpec spec, Config config) {
    differences(spec, config)
        .forEach(
            difference ->
                LOG.warn(
                    "topic {} has {}; left as it is, see kafka-configs", spec.name(), difference));
  }

  /** Settings of an existing topic that a new one would have otherwise, for people. */
  static List<String> differences(TopicSpec spec, Config config) {
    return spec.config().entrySet().stream()
        .filter(wanted -> !wanted.getKey().equals(POLICY))
        .sorted(Map.Entry.comparingByKey())
        .flatMap(
            wanted -> {
              ConfigEntry entry = config.get(wanted.getKey());
              String value = entry == null ? null : entry.value();
              return wanted.getValue().equals(value)
                  ? Stream.empty()
                  : Stream.of(
                      wanted.getKey() + "=" + value + ", a new one would get " + wanted.getValue());
            })
        .toList();
  }

  private void create(TopicSpec spec)
      throws TimeoutException, InterruptedException, ExecutionException {
    NewTopic topic =
        new NewTopic(spec.name(), spec.partitions(), spec.replication()).configs(spec.config());
    try {
      admin.createTopics(List.of(topic)).all().get(timeoutMs, TimeUnit.MILLISECONDS);
      LOG.info("created topic={} partitions={}", spec.name(), spec.partitions());
    } catch (ExecutionException e) {
      // Another process of the same site may have been faster; its topic is checked like any other.
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
    }
  }

  private Map<String, TopicDescription> describe(Collection<TopicSpec> specs)
      throws TimeoutException, InterruptedException, ExecutionException {
    Set<String> names = specs.stream().map(TopicSpec::name).collect(Collectors.toSet());
    return NewTopics.onceKnown(() -> admin.describeTopics(names).allTopicNames(), timeoutMs);
  }

  private Map<ConfigResource, Config> configs(Collection<TopicSpec> specs)
      throws TimeoutException, InterruptedException, ExecutionException {
    List<ConfigResource> resources =
        specs.stream().map(s -> new ConfigResource(ConfigResource.Type.TOPIC, s.name())).toList();
    return NewTopics.onceKnown(() -> admin.describeConfigs(resources).all(), timeoutMs);
  }
}
