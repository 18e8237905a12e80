// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.kafka;

import io.kvindex.model.kafka.ClientKind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsConfig;

/**
 * Whether a setting is one of Kafka's clients, may be chosen by a site, and has a value that can
 * be: a misspelt name of a security setting would be ignored by Kafka without a word.
 */
final class KafkaSettingCheck {

  private static final String PROVIDERS = "config.providers";

  private static final ConfigDef STREAMS = StreamsConfig.configDef();

  /** By prefix of {@link ClientKind}. */
  private static final Map<String, ConfigDef> KINDS =
      Map.of(
          "admin.",
          AdminClientConfig.configDef(),
          "consumer.",
          ConsumerConfig.configDef(),
          "producer.",
          ProducerConfig.configDef());

  /** What answers or their order depend on, or what has a flag of its own. */
  private static final Set<String> OURS =
      Set.of(
          // consumers
          "group.id",
          "group.instance.id",
          "group.protocol",
          "group.remote.assignor",
          "enable.auto.commit",
          "auto.offset.reset",
          "isolation.level",
          "partition.assignment.strategy",
          "allow.auto.create.topics",
          "key.deserializer",
          "value.deserializer",
          // producers
          "acks",
          "enable.idempotence",
          "transactional.id",
          "max.in.flight.requests.per.connection",
          "partitioner.class",
          "buffer.memory",
          "max.block.ms",
          "delivery.timeout.ms",
          "key.serializer",
          "value.serializer",
          // Kafka Streams
          "application.id",
          "application.server",
          "state.dir",
          "processing.guarantee",
          "rocksdb.config.setter",
          "statestore.cache.max.bytes",
          "default.key.serde",
          "default.value.serde",
          // admin clients
          "bootstrap.controllers");

  /** Beginnings of names that mean nothing where each process folds the log for itself. */
  private static final List<String> GONE =
      List.of(
          "restore.consumer.",
          "global.consumer.",
          "num.standby.replicas",
          "acceptable.recovery.lag",
          "max.warmup.replicas",
          "probing.rebalance.interval.ms",
          "task.assignor.class",
          "rack.aware.assignment.",
          "client.tag.");

  /** Flags that say what a setting would. */
  private static final Map<String, String> FLAGS =
      Map.of(
          "bootstrap.servers",
          "--kafka",
          "group.instance.id",
          "--copy",
          "application.server",
          "--advertise",
          "state.dir",
          "--data-dir");

  /** Lays checked settings over others. */
  void addTo(Map<String, Object> settings, Map<String, String> more, String from) {
    boolean provided = settings.containsKey(PROVIDERS) || more.containsKey(PROVIDERS);
    more.forEach((name, value) -> settings.put(name, checked(name, value, from, provided)));
  }

  /** Settings that have no effect, or not the wanted one, without each other. */
  static void together(Map<String, Object> settings) {
    String protocol =
        String.valueOf(settings.getOrDefault("security.protocol", "PLAINTEXT"))
            .toUpperCase(Locale.ROOT);
    if (protocol.contains("${")) {
      return; // a configuration provider knows it
    }
    for (String name : settings.keySet()) {
      boolean unused =
          name.startsWith("sasl.") && !protocol.startsWith("SASL_")
              || name.startsWith("ssl.") && !protocol.endsWith("SSL");
      if (unused) {
        throw new IllegalArgumentException(
            "Kafka setting "
                + name
                + " has no effect with security.protocol="
                + protocol
                + ": set security.protocol to "
                + (name.startsWith("sasl.") ? "SASL_SSL" : "SSL or SASL_SSL"));
      }
    }
    if (protocol.startsWith("SASL_")
        && Stream.of("sasl.jaas.config", "sasl.client.callback.handler.class")
            .noneMatch(settings::containsKey)
        && System.getProperty("java.security.auth.login.config") == null) {
      throw new IllegalArgumentException(
          "security.protocol=" + protocol + " needs sasl.mechanism and sasl.jaas.config");
    }
  }

  private static Object checked(String name, String value, String from, boolean provided) {
    if (GONE.stream().anyMatch(name::startsWith)) {
      throw refused(
          name,
          from,
          "has no effect: each process folds the log into a copy of its own, nothing is restored"
              + " from Kafka and nothing stands by");
    }
    String prefix = ClientKind.PREFIXES.stream().filter(name::startsWith).findFirst().orElse("");
    String bare = name.substring(prefix.length());
    if (OURS.contains(bare) || !prefix.isEmpty() && bare.equals("bootstrap.servers")) {
      String flag = FLAGS.get(bare);
      throw refused(name, from, "is decided by kvindex" + (flag == null ? "" : ": see " + flag));
    }
    if (bare.startsWith(PROVIDERS)) {
      return value;
    }
    ConfigKey key = prefix.isEmpty() ? ofAll(name, from) : ofKind(prefix, bare, name, from);
    if (provided && value.contains("${")) {
      return value;
    }
    Object parsed;
    try {
      parsed = ConfigDef.parseType(bare, value, key.type);
      if (key.validator != null) {
        key.validator.ensureValid(bare, parsed);
      }
    } catch (ConfigException e) {
      // Only types that are no secrets have values that can not be.
      throw refused(name, from, "can not be used: " + e.getMessage());
    }
    return key.type == ConfigDef.Type.PASSWORD ? Objects.requireNonNull(parsed) : value.strip();
  }

  private static ConfigKey ofKind(String prefix, String bare, String name, String from) {
    ConfigDef names = KINDS.get(prefix.endsWith("consumer.") ? "consumer." : prefix);
    Objects.requireNonNull(names, prefix);
    ConfigKey key = names.configKeys().get(bare);
    if (key == null) {
      throw unknown(name, from, prefix, names.names());
    }
    return key;
  }

  /** Of all clients, or of Kafka Streams. */
  private static ConfigKey ofAll(String name, String from) {
    List<String> kinds =
        KINDS.entrySet().stream()
            .filter(kind -> kind.getValue().configKeys().containsKey(name))
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
    ConfigKey streams = STREAMS.configKeys().get(name);
    if (kinds.size() == KINDS.size()) {
      return ofKind("admin.", name, name, from);
    }
    if (streams != null) {
      return streams;
    }
    if (!kinds.isEmpty()) {
      throw refused(
          name,
          from,
          "is not a setting of all clients: write "
              + String.join(" or ", kinds.stream().map(kind -> kind + name).toList()));
    }
    throw unknown(
        name,
        from,
        "",
        Stream.concat(
                STREAMS.names().stream(), KINDS.values().stream().flatMap(d -> d.names().stream()))
            .toList());
  }

  private static IllegalArgumentException unknown(
      String name, String from, String prefix, Iterable<String> names) {
    String bare = name.substring(prefix.length());
    String nearest = Nearest.of(bare, names);
    return refused(
        name,
        from,
        "is no setting of Kafka's clients"
            + (nearest == null ? "" : ", did you mean " + prefix + nearest + "?"));
  }

  private static IllegalArgumentException refused(String name, String from, String why) {
    return new IllegalArgumentException("Kafka setting " + name + " of " + from + " " + why);
  }
}
