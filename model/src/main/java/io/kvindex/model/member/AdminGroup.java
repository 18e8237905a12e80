// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.KafkaFuture;

/** Asks the cluster. */
final class AdminGroup implements Group {

  private static final long ANSWER_MS = 3_000;

  private final Admin admin;
  private final String groupId;

  /**
   * @param admin closed with this object
   */
  AdminGroup(Admin admin, String groupId) {
    this.admin = admin;
    this.groupId = groupId;
  }

  @Override
  public Map<String, String> hosts()
      throws InterruptedException, ExecutionException, TimeoutException {
    return answer(admin.describeConsumerGroups(List.of(groupId)).all()).values().stream()
        .flatMap(group -> group.members().stream())
        .filter(member -> member.groupInstanceId().isPresent())
        .collect(
            Collectors.toMap(
                member -> member.groupInstanceId().orElseThrow(), MemberDescription::host));
  }

  @Override
  public void remove(Set<String> names)
      throws InterruptedException, ExecutionException, TimeoutException {
    RemoveMembersFromConsumerGroupOptions which =
        new RemoveMembersFromConsumerGroupOptions(
            names.stream().map(MemberToRemove::new).collect(Collectors.toSet()));
    which.reason("its process does not run any more");
    answer(admin.removeMembersFromConsumerGroup(groupId, which).all());
  }

  private static <T> T answer(KafkaFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(ANSWER_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(1));
  }
}
