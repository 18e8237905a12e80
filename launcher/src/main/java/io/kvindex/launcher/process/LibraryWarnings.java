// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * One warning a minute for each cause, for libraries too: kvindex's own classes keep to that
 * themselves, but Kafka's clients warn at each retry. Before the next one that is let through a
 * line says how many were left out. Errors are never left out. Thread-safe; remembers {@value
 * #CAUSES} causes.
 */
public final class LibraryWarnings extends TurboFilter {

  static final int CAUSES = 256;

  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(LibraryWarnings.class);
  private static final String OWN = "io.kvindex.";
  private static final long EVERY_NS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;

  /** Least recently told first. */
  private final Map<Cause, Told> told = new LinkedHashMap<>(64, 0.75f, true);

  /** Made by logback. */
  public LibraryWarnings() {
    this(System::nanoTime);
  }

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  LibraryWarnings(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  private static final Pattern NUMBERS = Pattern.compile("[0-9]+");

  /**
   * What one complains of: a logger and its message without numbers. Kafka's clients hand over
   * texts that have their arguments in them already ({@code LogContext}, Kafka 4.3): ids of
   * requests, partitions, attempts left.
   */
  private record Cause(String logger, String text) {

    static Cause of(Logger logger, String text) {
      return new Cause(logger.getName(), NUMBERS.matcher(text).replaceAll("#"));
    }
  }

  private static final class Told {
    private long sinceNs;
    private long leftOut;
  }

  @Override
  public FilterReply decide(
      @Nullable Marker marker,
      Logger logger,
      Level level,
      @Nullable String text,
      Object @Nullable [] arguments,
      @Nullable Throwable problem) {
    boolean isOurs = logger.getName().startsWith(OWN);
    // A filter is asked before the logger's own level is looked at.
    boolean isSilent = logger.getEffectiveLevel().isGreaterOrEqual(Level.ERROR);
    if (level != Level.WARN || text == null || isOurs || isSilent) {
      return FilterReply.NEUTRAL;
    }
    long leftOut = leftOut(Cause.of(logger, text));
    if (leftOut < 0) {
      return FilterReply.DENY;
    }
    if (leftOut > 0) {
      LOG.warn("{} more like the next warning of {} were left out", leftOut, logger.getName());
    }
    return FilterReply.NEUTRAL;
  }

  /** How many were left out before this one; -1 = this one is left out as well. */
  private synchronized long leftOut(Cause cause) {
    long now = nanoTime.getAsLong();
    Told before = told.get(cause);
    if (before == null) {
      Told first = new Told();
      first.sinceNs = now;
      told.put(cause, first);
      if (told.size() > CAUSES) {
        told.remove(told.keySet().iterator().next());
      }
      return 0;
    }
    if (now - before.sinceNs < EVERY_NS) {
      before.leftOut++;
      return -1;
    }
    long leftOut = before.leftOut;
    before.sinceNs = now;
    before.leftOut = 0;
    return leftOut;
  }
}
