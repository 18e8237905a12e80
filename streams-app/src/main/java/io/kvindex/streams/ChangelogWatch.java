// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the changelog was deleted under a running replica. Kafka Streams would make another
 * one at its next rebalance, and go on in the log with tables that are empty and look right.
 */
final class ChangelogWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ChangelogWatch.class);
  private static final long LOOK_EVERY_S = 20;

  /** Looks in a row that have to agree: a broker may know less than the others for a moment. */
  static final int LOOKS = 3;

  private final Supplier<@Nullable LocalIdentity> kafkas;
  private final Consumer<String> gone;
  private @Nullable String first;
  private int missing;
  private boolean told;

  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "kvindex-changelog");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param kafkas what there is, null = Kafka does not say
   * @param gone told once, by the thread of this object, what is wrong
   */
  ChangelogWatch(Supplier<@Nullable LocalIdentity> kafkas, Consumer<String> gone) {
    this.kafkas = kafkas;
    this.gone = gone;
  }

  /** Looks from now on, in the background. */
  void start() {
    looks.scheduleWithFixedDelay(this::lookSafely, LOOK_EVERY_S, LOOK_EVERY_S, TimeUnit.SECONDS);
  }

  private void lookSafely() {
    try {
      look();
    } catch (RuntimeException e) {
      LOG.debug("the changelog was not looked at", e);
    }
  }

  /** One look. The first changelog that is seen is ours: rows of another one are not begun with. */
  synchronized void look() {
    LocalIdentity found = kafkas.get();
    if (found == null || told) {
      return;
    }
    if (first == null) {
      first = found.changelog().isEmpty() ? null : found.changelog();
      return;
    }
    missing = Objects.equals(first, found.changelog()) ? 0 : missing + 1;
    if (missing == LOOKS) {
      told = true;
      gone.accept(
          "the changelog topic was deleted"
              + (found.changelog().isEmpty() ? "" : " and created again")
              + " while this replica ran, and with it the tables' rows: stop all replicas and start"
              + " them: the tables are built anew from the events topic then");
    }
  }

  @Override
  public void close() {
    looks.shutdownNow();
  }
}
