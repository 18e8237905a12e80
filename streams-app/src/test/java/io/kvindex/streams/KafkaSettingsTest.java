// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a site's settings mean for each client of Kafka Streams, as Streams itself reads them. */
class KafkaSettingsTest {

  private static final String SESSION = "session.timeout.ms";

  private static StreamsConfig config(Map<String, Object> site) {
    Properties properties = StreamsSettings.of(IndexerConfig.on(site, Path.of("state")), 3);
    return new StreamsConfig(properties);
  }

  private static @Nullable Object mainConsumer(StreamsConfig config, String name) {
    return config.getMainConsumerConfigs("g", "c", 0).get(name);
  }

  @Test
  void shouldCopyRowsAsOftenAsTheLog_unlessTheSiteSaysOtherwise() {
    assertThat(config(Map.of("bootstrap.servers", "h:1")).getInt("replication.factor"))
        .isEqualTo(3);
    assertThat(
            config(Map.of("bootstrap.servers", "h:1", "replication.factor", 2))
                .getInt("replication.factor"))
        .isEqualTo(2);
  }

  @Test
  void shouldSayWhereItIsAndWhoItIs_whenPlaced() {
    Map<String, Object> site = Map.of("bootstrap.servers", "h:1");
    StreamsConfig config =
        new StreamsConfig(
            StreamsSettings.of(
                IndexerConfig.on(site, Path.of("state"))
                    .placed(new Placement(2, "rack-a", "index-7")),
                3));
    assertThat(config.getClientTags()).containsExactly(Map.entry("rack", "rack-a"));
    assertThat(config.getList(StreamsConfig.RACK_AWARE_ASSIGNMENT_TAGS_CONFIG))
        .containsExactly("rack");
    assertThat(mainConsumer(config, "client.rack")).isEqualTo("rack-a");
    assertThat(config.getRestoreConsumerConfigs("c")).containsEntry("client.rack", "rack-a");
    assertThat(config.getInt(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG)).isEqualTo(2);
    assertThat(mainConsumer(config, "group.instance.id")).isEqualTo("index-7-0");
  }

  @Test
  void shouldReachEveryClient_whenTheyAreForAll() {
    Password secret = new Password("s3cret");
    StreamsConfig config =
        config(
            Map.of(
                "bootstrap.servers",
                "h:1",
                "security.protocol",
                "SASL_SSL",
                "sasl.jaas.config",
                secret));
    assertThat(config.getMainConsumerConfigs("g", "c", 0))
        .containsEntry("security.protocol", "SASL_SSL")
        .containsEntry("sasl.jaas.config", secret);
    assertThat(config.getRestoreConsumerConfigs("c"))
        .containsEntry("security.protocol", "SASL_SSL")
        .containsEntry("sasl.jaas.config", secret);
    assertThat(config.getProducerConfigs("c"))
        .containsEntry("security.protocol", "SASL_SSL")
        .containsEntry("sasl.jaas.config", secret);
    assertThat(config.getAdminConfigs("c"))
        .containsEntry("security.protocol", "SASL_SSL")
        .containsEntry("sasl.jaas.config", secret);
  }

  @Test
  void shouldReplaceOurs_whenTheyAreForSomeClients() {
    assertThat(mainConsumer(config(Map.of("bootstrap.servers", "h:1")), SESSION)).isEqualTo(6_000);
    assertThat(
            mainConsumer(
                config(Map.of("bootstrap.servers", "h:1", "consumer." + SESSION, "3000")), SESSION))
        .isEqualTo("3000");
    assertThat(
            mainConsumer(
                config(Map.of("bootstrap.servers", "h:1", "main.consumer." + SESSION, "2000")),
                SESSION))
        .isEqualTo("2000");
    StreamsConfig tuned =
        config(Map.of("bootstrap.servers", "h:1", "producer.linger.ms", "7", "poll.ms", "20"));
    assertThat(tuned.getProducerConfigs("c")).containsEntry("linger.ms", "7");
    assertThat(tuned.getLong(StreamsConfig.POLL_MS_CONFIG)).isEqualTo(20L);
  }

  @Test
  void shouldKeepRowsAfterAnError_whenNoChangelogRestoresThem() {
    IndexerConfig site = IndexerConfig.at("h:1", Path.of("state"));
    assertThat(guarantee(site)).isEqualTo(StreamsConfig.EXACTLY_ONCE_V2);
    IndexerConfig rebuild = site.withoutChangelog();
    assertThat(guarantee(rebuild)).isEqualTo(StreamsConfig.AT_LEAST_ONCE);
    assertThat(rebuild.as("other").advertisedAs("h:2").tolerating(Tolerance.DEFAULT).changelog())
        .isFalse();
    assertThatThrownBy(() -> rebuild.placed(Placement.DEFAULT))
        .hasMessage("standbys need a changelog");
  }

  private static String guarantee(IndexerConfig config) {
    return new StreamsConfig(StreamsSettings.of(config, 3))
        .getString(StreamsConfig.PROCESSING_GUARANTEE_CONFIG);
  }

  @Test
  void shouldPrintNoSecret() {
    IndexerConfig config =
        IndexerConfig.on(
            Map.of("bootstrap.servers", "h:1", "ssl.key.password", new Password("s3cret")),
            Path.of("state"));
    assertThat(config.toString()).contains("[hidden]").doesNotContain("s3cret");
  }
}
