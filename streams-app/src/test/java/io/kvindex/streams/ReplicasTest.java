// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.StreamsMetadata;
import org.apache.kafka.streams.state.HostInfo;
import org.junit.jupiter.api.Test;

class ReplicasTest {
  private static final String OWN = "a:1";

  private final Replicas replicas = new Replicas(OWN, 4);

  record Client(
      HostInfo hostInfo,
      Set<TopicPartition> topicPartitions,
      Set<TopicPartition> standbyTopicPartitions)
      implements StreamsMetadata {

    @Override
    public Set<String> stateStoreNames() {
      return Set.of();
    }

    @Override
    public Set<String> standbyStateStoreNames() {
      return Set.of();
    }

    @Override
    public String host() {
      return hostInfo.host();
    }

    @Override
    public int port() {
      return hostInfo.port();
    }
  }

  static Client client(String host, int[] active, int... standby) {
    return new Client(new HostInfo(host, 1), partitions(active), partitions(standby));
  }

  private static Set<TopicPartition> partitions(int... numbers) {
    return Arrays.stream(numbers)
        .mapToObj(number -> new TopicPartition(Topics.EVENTS, number))
        .collect(Collectors.toSet());
  }

  @Test
  void shouldNameTheActiveFirst_whenOthersHoldAPartition() {
    replicas.refresh(
        List.of(
            client("c", new int[] {2}, 0, 1),
            client("b", new int[] {1}, 0, 2),
            client("a", new int[] {0}, 2)));
    assertThat(replicas.others()).containsExactly("b:1", "c:1");
    assertThat(replicas.holders(1).inOrder()).containsExactly("b:1", "c:1");
    assertThat(replicas.holders(2)).isEqualTo(new Holders("c:1", List.of("b:1")));
    assertThat(replicas.holders(0)).isEqualTo(new Holders(null, List.of("b:1", "c:1")));
    assertThat(replicas.holders(3)).isEqualTo(Holders.NONE);
  }

  @Test
  void shouldSayElsewhere_whenOnlyOthersHoldAPartition() {
    assertThat(replicas.isElsewhere(1)).isFalse();
    replicas.refresh(List.of(client("b", new int[] {0, 1, 2, 3})));
    assertThat(replicas.isElsewhere(1)).as("before it has a share itself").isFalse();
    replicas.refresh(List.of(client("b", new int[] {1, 2}, 0), client("a", new int[] {0}, 2)));
    assertThat(replicas.isElsewhere(0)).isFalse();
    assertThat(replicas.isElsewhere(1)).isTrue();
    assertThat(replicas.isElsewhere(2)).isFalse();
    assertThat(replicas.isElsewhere(3)).as("held by nobody").isFalse();
  }

  @Test
  void shouldLeaveOut_whenAReplicaAdvertisesNothing() {
    replicas.refresh(
        List.of(
            new Client(HostInfo.unavailable(), partitions(1), Set.of()), client("a", new int[0])));
    assertThat(replicas.others()).isEmpty();
    assertThat(replicas.holders(1)).isEqualTo(Holders.NONE);
  }
}
