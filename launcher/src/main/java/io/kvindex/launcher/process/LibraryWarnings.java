// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;

/**
 * The log's stream, with one warning a minute for each cause, for libraries too: kvindex's own
 * classes keep to that themselves, but Kafka's clients warn at each retry. Before the next one that
 * is let through a line says how many were left out. Errors are never left out. Thread-safe;
 * remembers {@value #CAUSES} causes.
 *
 * <p>An appender, not a filter of logback's that is asked before levels are: Kafka and Jetty ask
 * several times for each row and request whether they may trace, and such a filter would be called
 * each time.
 */
public final class LibraryWarnings extends ConsoleAppender<ILoggingEvent> {

  static final int CAUSES = 256;

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

    static Cause of(ILoggingEvent event) {
      return new Cause(event.getLoggerName(), NUMBERS.matcher(event.getMessage()).replaceAll("#"));
    }
  }

  private static final class Told {
    private long sinceNs;
    private long leftOut;
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (event.getLevel() == Level.WARN
        && event.getMessage() != null
        && !event.getLoggerName().startsWith(OWN)) {
      long leftOut = leftOut(Cause.of(event));
      if (leftOut < 0) {
        return;
      }
      if (leftOut > 0) {
        super.append(more(leftOut, event.getLoggerName()));
      }
    }
    super.append(event);
  }

  /** Not through a logger: one that logs while it is being asked is not heard. */
  private ILoggingEvent more(long leftOut, String logger) {
    return new LoggingEvent(
        LibraryWarnings.class.getName(),
        ((LoggerContext) getContext()).getLogger(LibraryWarnings.class),
        Level.WARN,
        "{} more like the next warning of {} were left out",
        null,
        new Object[] {leftOut, logger});
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
