// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerClusterTest {

  private static final String THREE = "1@127.0.0.1:9192,2@kafka-2:9193, 3@[::1]:9194";

  @Test
  void shouldKnowAllNodes() {
    BrokerCluster cluster = BrokerCluster.of("site", 3, THREE);
    assertThat(cluster.voters())
        .isEqualTo(Map.of(1, "127.0.0.1:9192", 2, "kafka-2:9193", 3, "[::1]:9194"));
    assertThat(cluster.voterText()).isEqualTo("1@127.0.0.1:9192,2@kafka-2:9193,3@[::1]:9194");
    assertThat(cluster.controllerHost()).isEqualTo("[::1]");
    assertThat(cluster.controllerPort()).isEqualTo(9194);
  }

  @Test
  void shouldMakeTheSameClusterIdOfTheSameName() {
    String id = BrokerCluster.of("site", 1, THREE).clusterId();
    assertThat(BrokerCluster.of("site", 2, "2@h:1").clusterId()).isEqualTo(id);
    assertThat(BrokerCluster.of("other", 1, THREE).clusterId()).isNotEqualTo(id);
    assertThat(Uuid.fromString(id).toString()).isEqualTo(id);
  }

  @ParameterizedTest
  @CsvSource({"1@h:1, 1, 1", "'1@h:1,2@h:2', 2, 1", "'1@h:1,2@h:2,3@h:3,4@h:4,5@h:5', 3, 2"})
  void shouldBearTheLossOfOneBroker_whenThereAreThree(String voters, int copies, int least) {
    BrokerCluster cluster = BrokerCluster.of("site", 1, voters);
    assertThat(cluster.copies()).isEqualTo(copies);
    assertThat(cluster.leastCopies()).isEqualTo(least);
    assertThat(
            BrokerSettings.of(
                BrokerOptions.in(Path.of("d")).withPort(1).withCluster(cluster),
                Path.of("d"),
                new BrokerSettings.Ports(1, 2)))
        .containsEntry("default.replication.factor", Integer.toString(copies))
        .containsEntry("min.insync.replicas", Integer.toString(least))
        .containsEntry("controller.quorum.voters", voters);
  }

  /** Two that do at the same moment vote for themselves, and nobody is elected. */
  @Test
  void shouldMissTheLeaderOneAfterTheOther() {
    Set<String> times = new HashSet<>();
    for (int node = 1; node <= 3; node++) {
      times.add(
          BrokerSettings.of(
                  BrokerOptions.in(Path.of("d"))
                      .withPort(1)
                      .withCluster(BrokerCluster.of("site", node, THREE)),
                  Path.of("d"),
                  new BrokerSettings.Ports(1, 2))
              .get("controller.quorum.fetch.timeout.ms"));
    }
    assertThat(times).hasSize(3).doesNotContainNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "1@h", "h:1", "x@h:1", "1@:1", "1@h:0", "1@h:65536", "1@h:1,", "-1@h:1"})
  void shouldNameTheVoter_whenItIsNone(String voters) {
    assertThatThrownBy(() -> BrokerCluster.of("site", 1, voters))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is not id@host:port");
  }

  @Test
  void shouldTakeSettingsOfKafkasBrokers_aboveOurs() {
    BrokerOptions options =
        BrokerOptions.in(Path.of("d"))
            .withProperties(Map.of("broker.session.timeout.ms", "2000"))
            .withPort(1);
    assertThat(BrokerSettings.of(options, Path.of("d"), new BrokerSettings.Ports(1, 2)))
        .containsEntry("broker.session.timeout.ms", "2000");
  }

  @ParameterizedTest
  @CsvSource({
    "broker.sesion.timeout.ms, is no setting of Kafka's brokers",
    "node.id, is decided by other flags",
    "advertised.listeners, is decided by other flags",
    "log.dirs, is decided by other flags"
  })
  void shouldRefuseASettingThatIsNone_orIsNotToBeChosen(String name, String why) {
    BrokerOptions options = BrokerOptions.in(Path.of("d"));
    assertThatThrownBy(() -> options.withProperties(Map.of(name, "1")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("broker setting " + name + " " + why);
  }

  @Test
  void shouldRefuseANodeThatIsNoVoter_andTwoOfOneId() {
    assertThatThrownBy(() -> BrokerCluster.of("site", 4, THREE))
        .hasMessageContaining("node 4")
        .hasMessageContaining("--voters");
    assertThatThrownBy(() -> BrokerCluster.of("site", 1, "1@h:1,1@h:2"))
        .hasMessageContaining("two voters are node 1");
  }
}
