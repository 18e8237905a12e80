// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.REPLACE_THREAD;
import static org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.streams.errors.StreamsException;
import org.junit.jupiter.api.Test;

class StreamFailuresTest {

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final StreamFailures failures = new StreamFailures("copy x", metrics);

  @Test
  void shouldGiveUpAndSayWhy_whenAnotherProcessHasItsName() {
    StreamsException fenced = new StreamsException(new FencedInstanceIdException("index-7"));
    assertThat(failures.handle(fenced)).isEqualTo(SHUTDOWN_CLIENT);
    assertThat(failures.givenUp()).isEqualTo("another process runs as copy x");
  }

  @Test
  void shouldReplaceTheThread_whenItMayWorkNextTime() {
    failures.close(); // nobody waits for the pause
    for (int i = 0; i < 3; i++) {
      assertThat(failures.handle(new StreamsException("once"))).isEqualTo(REPLACE_THREAD);
    }
    assertThat(failures.givenUp()).isNull();
    assertThat(metrics.counter("kvindex.stream.failures").count()).isEqualTo(3);
  }

  @Test
  void shouldSaySoUntilTheEnd_whenOnlyAPersonCanHelp() {
    failures.giveUp("the topic is gone", new StreamsException("gone"));
    failures.close();
    failures.handle(new StreamsException("while it ends"));
    assertThat(failures.givenUp()).isEqualTo("the topic is gone");
  }
}
