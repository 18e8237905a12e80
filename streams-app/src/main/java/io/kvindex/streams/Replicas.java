// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.topic.Topics;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.StreamsMetadata;
import org.apache.kafka.streams.state.HostInfo;
import org.jspecify.annotations.Nullable;

/**
 * The group's other replicas and what they hold, as its last assignment says: one that died is
 * there until the group notices. Refreshed by one thread, read by any.
 */
final class Replicas {

  /**
   * @param all who holds each partition, this one too
   */
  private record Known(boolean member, List<String> others, List<Holders> all) {}

  private final @Nullable String own;
  private final int partitions;
  private volatile Known known;

  /**
   * @param own how this replica advertises itself, null = not at all
   */
  Replicas(@Nullable String own, int partitions) {
    this.own = own;
    this.partitions = partitions;
    known = new Known(false, List.of(), List.of());
  }

  /** How this one advertises itself, null = not at all. */
  @Nullable String own() {
    return own;
  }

  List<String> others() {
    return known.others();
  }

  /** Who holds a partition, this one too. */
  Holders all(int partition) {
    return all(known, partition);
  }

  /** Which others hold a partition. */
  Holders holders(int partition) {
    return all(known, partition).without(own);
  }

  /** Whether a partition is others' alone, as far as this one has a share at all. */
  boolean isElsewhere(int partition) {
    Known now = known;
    List<String> holders = all(now, partition).inOrder();
    return now.member() && !holders.isEmpty() && !holders.contains(own);
  }

  private static Holders all(Known known, int partition) {
    return partition < known.all().size() ? known.all().get(partition) : Holders.NONE;
  }

  void refresh(Collection<StreamsMetadata> clients) {
    List<StreamsMetadata> reachable =
        clients.stream()
            .filter(client -> !client.hostInfo().equals(HostInfo.unavailable()))
            .sorted(Comparator.comparing(Replicas::address))
            .toList();
    List<String> others =
        reachable.stream()
            .map(Replicas::address)
            .filter(address -> !address.equals(own))
            .distinct()
            .toList();
    known =
        new Known(
            reachable.stream().anyMatch(client -> address(client).equals(own)),
            others,
            IntStream.range(0, partitions).mapToObj(i -> holdersOf(i, reachable)).toList());
  }

  private Holders holdersOf(int partition, List<StreamsMetadata> clients) {
    TopicPartition wanted = new TopicPartition(Topics.EVENTS, partition);
    String active = null;
    List<String> standbys = new ArrayList<>();
    for (StreamsMetadata client : clients) {
      if (client.topicPartitions().contains(wanted)) {
        active = address(client);
      } else if (client.standbyTopicPartitions().contains(wanted)) {
        standbys.add(address(client));
      }
    }
    return new Holders(active, standbys);
  }

  private static String address(StreamsMetadata client) {
    return client.hostInfo().host() + ":" + client.hostInfo().port();
  }
}
