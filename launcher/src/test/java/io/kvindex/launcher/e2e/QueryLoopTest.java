// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.e2e.StandInReplica.Reply;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A loop that overlooks something makes each test that uses it worthless. */
@Timeout(60)
class QueryLoopTest {

  private static final Reply RIGHT = Reply.ok("{\"default\":{\"engine-0\":{}}}");

  private static void close(QueryLoop loop) {
    try {
      loop.close();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldAskUntilItIsClosed_whenAllIsRight() throws Exception {
    try (StandInReplica server = new StandInReplica(question -> RIGHT)) {
      QueryLoop loop = new QueryLoop(new Api(server.uri()), 1, Duration.ofMillis(5));
      await().until(() -> loop.answers() > 10);
      loop.close();
      assertThat(server.asked()).isEqualTo(loop.answers());
      loop.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"default\":{}}", "{}", "<html>"})
  void shouldFail_whenAnAnswerIsNone(String body) throws Exception {
    try (StandInReplica server = new StandInReplica(question -> Reply.ok(body))) {
      QueryLoop loop = new QueryLoop(new Api(server.uri()), 1);
      await().until(() -> server.asked() > 0);
      assertThatThrownBy(loop::close).isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void shouldFail_whenNobodyListens() throws Exception {
    StandInReplica server = new StandInReplica(question -> RIGHT);
    QueryLoop loop = new QueryLoop(new Api(server.uri()), 1);
    await().until(() -> loop.answers() > 0);
    server.close();
    await()
        .untilAsserted(
            () -> assertThatThrownBy(loop::answers).hasMessageContaining("a query failed after"));
    assertThatThrownBy(loop::close).hasMessageContaining("a query failed after");
  }

  /** The last question is a question as well. */
  @Test
  void shouldFail_whenWhatIsUnderWayFailsAfterItWasClosed() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (StandInReplica server =
        new StandInReplica(
            question -> {
              StandInReplica.await(goOn);
              return Reply.refusal("not ready");
            })) {
      QueryLoop loop = new QueryLoop(new Api(server.uri()), 1);
      await().until(() -> server.asked() == 1);
      CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> close(loop));
      assertThatThrownBy(() -> closing.get(200, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      goOn.countDown();
      assertThatThrownBy(() -> closing.get(30, TimeUnit.SECONDS)).hasMessageContaining("not ready");
    }
  }
}
