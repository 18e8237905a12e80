// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.remote.ReplicaClient.RefusedException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Names are asked for as walks are: of the event that was waited for, and while there is time. */
class RemoteViewTest extends OneOfThree {

  private final List<NamesRequest> asked = new ArrayList<>();

  /** Nobody else has an answer; what is here is stale. */
  private TableView view() {
    return new RemoteView(
        new Forwarding(
            this::refuse, new FailureDetector(System::nanoTime), new SimpleMeterRegistry()),
        TABLE,
        new Holders(List.of(FIRST), true, false),
        address -> false,
        Race.LONGEST_NANOS,
        own.copy);
  }

  private void refuse(
      String address, String path, byte[] body, long forNanos, Transport.Reply reply) {
    asked.add(PlainMessage.decode(body, NamesRequest.class));
    reply.told(null, new RefusedException("it answered 503"));
  }

  @Test
  void shouldTellTheNamesKnownHere_whenNobodyElseTells() {
    assertThat(view().within(Deadline.NONE, TableView.ANY_OFFSET).contexts()).isEmpty();
    assertThat(asked)
        .singleElement()
        .extracting(NamesRequest::notBefore)
        .isEqualTo(TableView.ANY_OFFSET);
  }

  @Test
  void shouldTellNoNamesKnownHere_whenTheyMayLackTheEvent() {
    TableView view = view().within(Deadline.NONE, 300);
    assertThatThrownBy(view::contexts)
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("it answered 503");
    assertThatThrownBy(() -> view.loraNames(3, List.of("a"))).isInstanceOf(ApiException.class);
    assertThat(asked).hasSize(2).extracting(NamesRequest::notBefore).containsOnly(300L);
  }

  @Test
  void shouldAskNobody_whenTheTimeIsOver() {
    Deadline over = Deadline.of("1", System.nanoTime() - TimeUnit.SECONDS.toNanos(1));
    assertThatThrownBy(() -> view().within(over, TableView.ANY_OFFSET).contexts())
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE_EXCEEDED));
    assertThat(asked).isEmpty();
  }
}
