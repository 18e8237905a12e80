// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.topic.Topics;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ServingWatchTest {

  private static final TopicPartition COPY = new TopicPartition(Topics.REGISTRATIONS, 0);
  private static final Serving FIRST = new Serving(1, "first");
  private static final Serving SECOND = new Serving(1, "second");
  private static final Serving THIRD = new Serving(2, "third");

  private final MockConsumer<byte[], byte[]> log = new MockConsumer<>("earliest");
  private final BlockingQueue<Serving> told = new LinkedBlockingQueue<>();
  private final ServingWatch watch = new ServingWatch(log, Serving.DEFAULT, told::add);
  private long end;

  @BeforeEach
  void begin() {
    log.updateBeginningOffsets(Map.of(COPY, 0L));
    watch.start();
  }

  @AfterEach
  void close() {
    watch.close();
  }

  private void say(Serving... all) {
    log.schedulePollTask(
        () -> {
          for (Serving one : all) {
            byte[] record = new SiteRecord(0, Map.of(), one).encode();
            log.addRecord(new ConsumerRecord<>(COPY.topic(), 0, end++, SiteRecord.key(), record));
          }
        });
  }

  private Serving next() throws InterruptedException {
    return Objects.requireNonNull(told.poll(30, TimeUnit.SECONDS), "nothing was told");
  }

  @Test
  void shouldFollowTheLastRecord_whenTwoHaveTheSameNumber() throws InterruptedException {
    say(FIRST);
    assertThat(next()).isEqualTo(FIRST);
    say(SECOND);
    assertThat(next()).isEqualTo(SECOND);
  }

  @Test
  void shouldPassOverWhatIsOlderOrKnown() throws InterruptedException {
    say(THIRD);
    assertThat(next()).isEqualTo(THIRD);
    say(FIRST, THIRD);
    say(new Serving(3, "fourth"));
    assertThat(next()).isEqualTo(new Serving(3, "fourth"));
  }

  @Test
  void shouldNotTellWhatIsOvertakenAtOnce() throws InterruptedException {
    say(FIRST, SECOND);
    assertThat(next()).isEqualTo(SECOND);
    assertThat(told).isEmpty();
  }
}
