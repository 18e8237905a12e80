// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.launcher.process.TakeOver.Outcome;
import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.model.site.Serving;
import io.kvindex.model.site.ServingChange;
import io.kvindex.query.remote.ServedTable;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsResult;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HandOverTest {

  private static final Serving FORMER = Serving.DEFAULT;
  private static final Serving OWN = FORMER.next("kvindex-table-1");
  private static final Serving OTHER = OWN.next("kvindex-table-2");

  private final StringWriter said = new StringWriter();

  /** Questions about the former group, and leaving, in order. */
  private final List<String> history = new ArrayList<>();

  private final RebuiltTable rebuilt = new RebuiltTable(() -> history.add("left"));
  private final ServedTable table = rebuilt.open(OWN.application());
  private Duration patience = Duration.ofMinutes(1);

  /** What Kafka says of the former group, the last one again and again. */
  private List<ApiException> answers = List.of(new GroupIdNotFoundException("nobody"));

  /** Done when the group is asked for, before the answer. */
  private Runnable meanwhile = () -> {};

  @AfterEach
  void close() {
    table.close();
  }

  private Admin admin() {
    return (Admin)
        Proxy.newProxyInstance(
            HandOverTest.class.getClassLoader(),
            new Class<?>[] {Admin.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "describeConsumerGroups" -> describe();
                  case "deleteConsumerGroups" -> throw new IllegalStateException("no right");
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private DescribeConsumerGroupsResult describe() {
    int asked = history.size();
    history.add("asked");
    meanwhile.run();
    KafkaFutureImpl<ConsumerGroupDescription> answer = new KafkaFutureImpl<>();
    answer.completeExceptionally(answers.get(Math.min(asked, answers.size() - 1)));
    return new DescribeConsumerGroupsResult(Map.of(FORMER.application(), answer));
  }

  private HandOver handOver(Serving now, int replicasBefore) {
    return new HandOver(
        table,
        new ServingChange(FORMER, now),
        new ReplayGroup(admin(), FORMER.application()),
        new Departure(replicasBefore),
        new HandOver.Terms(2, patience),
        new TakeOverReport(new PrintWriter(said)));
  }

  private void assertNames(Serving... left) {
    for (Serving one : left) {
      String name = one.application();
      assertThat(said.toString())
          .contains(
              "left in Kafka: group " + name + " and topic " + name + "-prefix-table-changelog");
    }
  }

  @Test
  void shouldStay_whileKafkaDoesNotSayWhoHasTheFormerTable() throws InterruptedException {
    answers =
        List.of(
            new TimeoutException("no answer"),
            new DisconnectException("gone"),
            new GroupIdNotFoundException("nobody"));
    assertThat(handOver(OWN, 0).run(() -> {})).isEqualTo(Outcome.FORMER_LEFT);
    assertThat(history).containsExactly("asked", "asked", "asked", "left");
    assertThat(said.toString())
        .containsOnlyOnce("not known now")
        .contains("asked again: Kafka refused: no answer")
        .contains("not deleted: no right");
    assertNames(FORMER);
  }

  @Test
  void shouldNameWhatItLeaves_whenAnotherOneServesMeanwhile() throws InterruptedException {
    HandOver handOver = handOver(OWN, 2);
    meanwhile = () -> handOver.follow(OTHER);
    assertThat(handOver.run(() -> {})).isEqualTo(Outcome.OVERTAKEN);
    assertThat(history).containsExactly("asked");
    assertThat(said.toString()).contains("kvindex-table-2 serves by now (change 2)");
    assertNames(OWN, FORMER);
  }

  @Test
  void shouldNameWhatItLeaves_whenTheLogHasAnotherStatementFromTheBeginning()
      throws InterruptedException {
    assertThat(handOver(OTHER, 2).run(() -> {})).isEqualTo(Outcome.OVERTAKEN);
    assertThat(history).isEmpty();
    assertNames(OWN, FORMER);
  }

  @Test
  void shouldStay_whenNotEveryPartitionIsOnAReplicaInTime() throws InterruptedException {
    rebuilt.partitions(1);
    patience = Duration.ofMillis(1);
    assertThat(handOver(OWN, 0).run(() -> {})).isEqualTo(Outcome.NEEDED);
    assertThat(history).containsOnly("asked");
  }

  @Test
  void shouldEnd_whenTheRebuildIsGivenUpMeanwhile() {
    HandOver handOver = handOver(OWN, 2);
    assertThatThrownBy(
            () ->
                handOver.run(
                    () -> {
                      throw new IllegalStateException("no disk");
                    }))
        .hasMessage("no disk");
    assertThat(history).doesNotContain("left");
  }
}
