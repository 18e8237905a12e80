// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LibraryWarningsTest {

  private final LoggerContext context = new LoggerContext();
  private final AtomicLong nowNs = new AtomicLong(-5);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final LibraryWarnings log = new LibraryWarnings(nowNs::get);

  @BeforeEach
  void startLog() {
    context.setMDCAdapter(new LogbackMDCAdapter());
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%level %msg%n");
    encoder.start();
    log.setContext(context);
    log.setEncoder(encoder);
    log.start();
    log.setOutputStream(out);
    context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(log);
  }

  private Logger logger(String name) {
    return context.getLogger(name);
  }

  private boolean warn(String logger, @Nullable String text) {
    out.reset();
    logger(logger).warn(text);
    return out.size() > 0;
  }

  private List<String> lines() {
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void shouldLetOneThroughAMinute_whenALibraryRepeatsItself() {
    assertThat(warn("org.apache.kafka.Sender", "again")).isTrue();
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(59));
    assertThat(warn("org.apache.kafka.Sender", "again")).isFalse();
    assertThat(warn("org.apache.kafka.Sender", "another")).isTrue();
    assertThat(warn("org.apache.kafka.Fetcher", "again")).isTrue();
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(warn("org.apache.kafka.Sender", "again")).isTrue();
    assertThat(lines())
        .containsExactly(
            "WARN 1 more like the next warning of org.apache.kafka.Sender were left out",
            "WARN again");
  }

  /** Kafka's clients put the arguments in before the message comes here. */
  @Test
  void shouldSeeOneCause_whenOnlyNumbersDiffer() {
    String text = "error response with correlation id %d on events-%d, retrying (%d attempts left)";
    assertThat(warn("Sender", text.formatted(574, 4, 21))).isTrue();
    assertThat(warn("Sender", text.formatted(575, 11, 20))).isFalse();
    assertThat(warn("Sender", text.formatted(575, 11, 20).replace("events", "other"))).isTrue();
  }

  @Test
  void shouldLetAllThrough_whenTheyAreErrorsOrOurOwn() {
    for (int i = 0; i < 3; i++) {
      assertThat(warn("io.kvindex.bridge.Bridge", "again")).isTrue();
      assertThat(warn("org.apache.kafka.Sender", null)).isTrue();
      out.reset();
      logger("org.apache.kafka.Sender").error("bad");
      assertThat(lines()).containsExactly("ERROR bad");
    }
  }

  @Test
  void shouldForgetTheOldest_whenThereAreManyCauses() {
    warn("a", "first");
    for (int i = 0; i < LibraryWarnings.CAUSES; i++) {
      warn("a", "cause " + "x".repeat(i));
    }
    assertThat(warn("a", "first")).isTrue();
    assertThat(warn("a", "cause " + "x".repeat(LibraryWarnings.CAUSES - 1))).isFalse();
  }

  @Test
  void shouldBePartOfTheProgram() throws Exception {
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    context.reset();
    configurator.doConfigure(LibraryWarnings.class.getResource("/logback.xml"));
    assertThat(context.getTurboFilterList())
        .as("asked at each disabled trace of a library")
        .isEmpty();
    assertThat(logger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders())
        .toIterable()
        .singleElement()
        .satisfies(one -> programs((LibraryWarnings) one));
  }

  private void programs(LibraryWarnings appender) {
    assertThat(appender.getTarget()).isEqualTo("System.err");
    appender.setOutputStream(out);
    for (int i = 0; i < 5; i++) {
      logger("org.apache.kafka.Sender").warn("retry {}", i);
    }
    logger("org.apache.kafka.Sender").info("nothing of interest");
    assertThat(lines())
        .singleElement()
        .asString()
        .endsWith("retry 0")
        .contains(Level.WARN.toString());
  }
}
