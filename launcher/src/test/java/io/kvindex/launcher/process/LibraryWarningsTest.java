// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import ch.qos.logback.core.spi.FilterReply;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LibraryWarningsTest {

  private final LoggerContext context = new LoggerContext();
  private final AtomicLong nowNs = new AtomicLong(-5);
  private final LibraryWarnings filter = new LibraryWarnings(nowNs::get);

  private FilterReply warn(String logger, @Nullable String text) {
    return filter.decide(null, context.getLogger(logger), Level.WARN, text, null, null);
  }

  @Test
  void shouldLetOneThroughAMinute_whenALibraryRepeatsItself() {
    assertThat(warn("org.apache.kafka.Sender", "again {}")).isEqualTo(FilterReply.NEUTRAL);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(59));
    assertThat(warn("org.apache.kafka.Sender", "again {}")).isEqualTo(FilterReply.DENY);
    assertThat(warn("org.apache.kafka.Sender", "another {}")).isEqualTo(FilterReply.NEUTRAL);
    assertThat(warn("org.apache.kafka.Fetcher", "again {}")).isEqualTo(FilterReply.NEUTRAL);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(warn("org.apache.kafka.Sender", "again {}")).isEqualTo(FilterReply.NEUTRAL);
  }

  /** Kafka's clients put the arguments in before the filter is asked. */
  @Test
  void shouldSeeOneCause_whenOnlyNumbersDiffer() {
    String text = "error response with correlation id %d on events-%d, retrying (%d attempts left)";
    assertThat(warn("Sender", text.formatted(574, 4, 21))).isEqualTo(FilterReply.NEUTRAL);
    assertThat(warn("Sender", text.formatted(575, 11, 20))).isEqualTo(FilterReply.DENY);
    assertThat(warn("Sender", text.formatted(575, 11, 20).replace("events", "other")))
        .isEqualTo(FilterReply.NEUTRAL);
  }

  @Test
  void shouldLetAllThrough_whenTheyAreErrorsOrOurOwn() {
    for (int i = 0; i < 3; i++) {
      Logger library = context.getLogger("org.apache.kafka.Sender");
      assertThat(filter.decide(null, library, Level.ERROR, "bad", null, null))
          .isEqualTo(FilterReply.NEUTRAL);
      assertThat(warn("io.kvindex.bridge.Bridge", "again")).isEqualTo(FilterReply.NEUTRAL);
      assertThat(warn("org.apache.kafka.Sender", null)).isEqualTo(FilterReply.NEUTRAL);
    }
  }

  @Test
  void shouldForgetTheOldest_whenThereAreManyCauses() {
    warn("a", "first");
    for (int i = 0; i < LibraryWarnings.CAUSES; i++) {
      warn("a", "cause " + "x".repeat(i));
    }
    assertThat(warn("a", "first")).isEqualTo(FilterReply.NEUTRAL);
    assertThat(warn("a", "cause " + "x".repeat(LibraryWarnings.CAUSES - 1)))
        .isEqualTo(FilterReply.DENY);
  }

  @Test
  void shouldBePartOfTheProgram() throws Exception {
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(LibraryWarnings.class.getResource("/logback.xml"));
    ListAppender<ILoggingEvent> seen = new ListAppender<>();
    seen.start();
    context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(seen);
    for (int i = 0; i < 5; i++) {
      context.getLogger("org.apache.kafka.Sender").warn("retry {}", i);
    }
    assertThat(seen.list).extracting(ILoggingEvent::getFormattedMessage).containsExactly("retry 0");
  }
}
