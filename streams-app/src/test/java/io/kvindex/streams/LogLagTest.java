// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Of what is said to keep up with the log, and from when on. */
class LogLagTest {

  private static final long END = 500;

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final LocalViews views = new LocalViews();
  private final LogLag lag =
      new LogLag(
          IndexerConfig.at("none:1", Path.of("unused")),
          new AllCommitted(),
          1,
          views,
          new RestoreWatch(metrics, (partition, next, end) -> {}),
          (partition, away) -> {},
          metrics);

  /** A log whose owner has committed all of it. */
  private static final class AllCommitted implements LogLag.Offsets {
    @Override
    public Map<TopicPartition, Long> ends(Collection<TopicPartition> of) {
      return of.stream().collect(Collectors.toMap(partition -> partition, partition -> END));
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed() {
      return Map.of(new TopicPartition(Topics.EVENTS, 0), new OffsetAndMetadata(END, "by Streams"));
    }

    @Override
    public long start(TopicPartition of) {
      return 0;
    }

    @Override
    public long firstSince(TopicPartition of, Instant time) {
      return END;
    }

    @Override
    public void close() {}
  }

  private static PartitionView view(State state, boolean complete, long applied) {
    return (PartitionView)
        Proxy.newProxyInstance(
            LogLagTest.class.getClassLoader(),
            new Class<?>[] {PartitionView.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "state" -> state;
                  case "complete" -> complete;
                  case "appliedOffset", "takenOffset" -> applied;
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private void assertKeepsUp(boolean expected) {
    assertThat(lag.keepsUp(0)).isEqualTo(expected);
    if (expected) {
      assertThat(lag.tooFarBehind(0)).isNull();
    } else {
      assertThat(lag.tooFarBehind(0)).contains("partition 0");
    }
  }

  @AfterEach
  void close() {
    lag.close();
  }

  @Test
  void shouldGoByWhatOthersCommitted_whileNothingIsHere() {
    assertKeepsUp(false);
    lag.refresh(Instant.now());
    assertKeepsUp(true);
  }

  @Test
  void shouldNotBeCalm_fromWhenAViewIsHereUntilItWasLookedAt() {
    lag.refresh(Instant.now());
    views.take(0, view(State.LIVE, true, END - 1));
    assertKeepsUp(false);
    lag.refresh(Instant.now());
    assertKeepsUp(true);
  }

  /** Rows that are thrown away before anybody answers from them may have been those of all. */
  @Test
  void shouldNotTakeTheWordOfRowsThatWereNeverAnsweredFrom() {
    views.take(0, view(State.RESTORING, false, END - 1));
    lag.refresh(Instant.now());
    views.take(0, view(State.LIVE, true, -1));
    assertKeepsUp(false);
    lag.refresh(Instant.now());
    assertKeepsUp(false);
    views.take(0, view(State.LIVE, true, END - 1));
    lag.refresh(Instant.now());
    assertKeepsUp(true);
  }
}
