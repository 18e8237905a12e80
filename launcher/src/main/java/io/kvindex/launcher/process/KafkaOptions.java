// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.kafka.KafkaProperties;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which Kafka cluster a process uses, and how. */
class KafkaOptions {

  @Option(
      names = "--kafka",
      paramLabel = "HOST:PORT",
      description =
          "Kafka bootstrap servers, separated by commas (default: bootstrap.servers of --kafka-config,"
              + " else 127.0.0.1:9092).",
      defaultValue = "${env:KVINDEX_KAFKA}")
  private @Nullable String kafka;

  @Option(
      names = "--kafka-config",
      paramLabel = "FILE",
      description =
          "Properties file for all Kafka clients: TLS, SASL, timeouts. The place for passwords: flags are"
              + " seen by every user of the machine.",
      defaultValue = "${env:KVINDEX_KAFKA_CONFIG}")
  private @Nullable Path kafkaConfig;

  @Option(
      names = "--kafka-property",
      paramLabel = "NAME=VALUE",
      description =
          "One setting of the Kafka clients, above the file's; may be given several times. With"
              + " producer., consumer. or admin. before its name it is for those alone.")
  private List<String> kafkaProperties = List.of();

  /**
   * Settings of all Kafka clients of the process, see {@link KafkaProperties}.
   *
   * @throws IllegalArgumentException if one can not be used
   */
  Map<String, Object> kafka() {
    return KafkaProperties.read(kafka, kafkaConfig, System.getenv(), kafkaProperties);
  }
}
