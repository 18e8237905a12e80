// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KafkaPropertiesTest {

  private static final String SECRET = "s3cret-of-the-test";

  @TempDir private Path directory;

  private Path file(String... lines) throws IOException {
    return Files.write(directory.resolve("client.properties"), List.of(lines));
  }

  private static Map<String, Object> flags(String... flags) {
    return KafkaProperties.read(null, null, Map.of(), List.of(flags));
  }

  @Test
  void shouldUseLoopback_whenNothingIsSaid() {
    assertThat(KafkaProperties.read("", null, Map.of(), List.of()))
        .isEqualTo(Map.of("bootstrap.servers", "127.0.0.1:9092"));
  }

  @Test
  void shouldPutFlagsAboveEnvironmentAboveFile() throws IOException {
    Path file =
        file(
            "# as Kafka's own tools read it, or with a prefix",
            "bootstrap.servers=file:1",
            "retry.backoff.ms=1",
            "kafka.reconnect.backoff.ms=1",
            "request.timeout.ms = 1 ");
    Map<String, String> environment =
        Map.of(KafkaProperties.ENVIRONMENT, "retry.backoff.ms=2\nreconnect.backoff.ms=2\n");
    List<String> flags = List.of("kafka.reconnect.backoff.ms=3", "producer.linger.ms=4");
    assertThat(KafkaProperties.read(null, file, environment, flags))
        .isEqualTo(
            Map.of(
                "bootstrap.servers", "file:1",
                "request.timeout.ms", "1",
                "retry.backoff.ms", "2",
                "reconnect.backoff.ms", "3",
                "producer.linger.ms", "4"));
    assertThat(KafkaProperties.read("flag:1", file, environment, flags))
        .containsEntry("bootstrap.servers", "flag:1");
  }

  @Test
  void shouldHideSecrets_whereverSettingsArePrinted() {
    Map<String, Object> settings =
        flags(
            "security.protocol=SASL_SSL",
            "sasl.mechanism=PLAIN",
            "sasl.jaas.config=M required username=\"u\" password=\"" + SECRET + "\";",
            "ssl.key.password=" + SECRET);
    assertThat(settings.toString()).contains("[hidden]").doesNotContain(SECRET);
    assertThat(settings.get("ssl.key.password")).isEqualTo(new Password(SECRET));
  }

  @Test
  void shouldKeepSecretsOutOfMessages() throws IOException {
    Path file = file("sasl.jaas.config=" + SECRET, "sasl.jaas.confg=" + SECRET);
    assertThatThrownBy(() -> KafkaProperties.read(null, file, Map.of(), List.of()))
        .hasMessageContaining("did you mean sasl.jaas.config?")
        .hasMessageNotContaining(SECRET);
    Path broken = file("ssl.key.password=\\u" + SECRET);
    assertThatThrownBy(() -> KafkaProperties.read(null, broken, Map.of(), List.of()))
        .hasMessageContaining("no properties file")
        .hasMessageNotContaining(SECRET);
    assertThatThrownBy(() -> flags("=" + SECRET)).hasMessageNotContaining(SECRET);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "securty.protocol=SSL | securty.protocol | did you mean security.protocol?",
        "security.protocol=TLS | security.protocol | SASL_SSL",
        "request.timeout.ms=soon | request.timeout.ms | Not a number",
        "request.timeout.ms=-1 | request.timeout.ms | at least 0",
        "linger.ms=5 | linger.ms | write producer.linger.ms",
        "client.rack=a | client.rack | write consumer.client.rack",
        "producer.lingr.ms=5 | producer.lingr.ms | did you mean producer.linger.ms?",
        "main.consumer.max.poll.record=5 | main.consumer | did you mean main.consumer.max.poll.records?",
        "acks=1 | acks | decided by kvindex",
        "producer.acks=1 | producer.acks | decided by kvindex",
        "processing.guarantee=at_least_once | processing.guarantee | decided by kvindex",
        "num.standby.replicas=2 | num.standby.replicas | nothing stands by",
        "restore.consumer.fetch.min.bytes=1 | restore.consumer | nothing is restored",
        "client.tag.zone=a | client.tag.zone | nothing stands by",
        "group.instance.id=a | group.instance.id | see --copy",
        "producer.bootstrap.servers=h:1 | bootstrap.servers | decided by kvindex",
        "kafka.bootstrap.servers=h:1 | bootstrap.servers | use --kafka",
        "ssl.truststore.location=/t | ssl.truststore.location | set security.protocol",
        "sasl.mechanism=PLAIN | sasl.mechanism | SASL_SSL",
        "security.protocol=SASL_SSL | security.protocol | needs sasl.mechanism and sasl.jaas.config",
        "acks | acks | not NAME=VALUE"
      })
  void shouldSayWhatIsWrong(String flag, String name, String hint) {
    assertThatThrownBy(() -> flags(flag.strip()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining(hint);
  }

  @Test
  void shouldNameTheFile_whenItIsNotThere() {
    assertThatThrownBy(
            () -> KafkaProperties.read(null, directory.resolve("no"), Map.of(), List.of()))
        .hasMessageContaining("--kafka-config")
        .hasMessageContaining("NoSuchFile");
  }

  @Test
  void shouldRefuseTwoValuesOfOneName() throws IOException {
    Path file = file("kafka.retry.backoff.ms=1", "retry.backoff.ms=2");
    assertThatThrownBy(() -> KafkaProperties.read(null, file, Map.of(), List.of()))
        .hasMessageContaining("two values for retry.backoff.ms");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "task.timeout.ms=1000",
        "main.consumer.session.timeout.ms=3000",
        "consumer.client.rack=a",
        "admin.retries=3"
      })
  void shouldTakeWhatIsForSomeClients(String flag) {
    String name = flag.substring(0, flag.indexOf('='));
    assertThat(flags(flag)).containsEntry(name, flag.substring(flag.indexOf('=') + 1));
  }

  @Test
  void shouldLeaveValuesOfAProviderAlone() {
    Map<String, Object> settings =
        flags(
            "config.providers=file",
            "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider",
            "request.timeout.ms=${file:/run/timeouts:request}");
    assertThat(settings).containsEntry("request.timeout.ms", "${file:/run/timeouts:request}");
  }
}
