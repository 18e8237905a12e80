// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.swap;

import io.kvindex.query.remote.ServedTable;
import io.kvindex.query.remote.ServingIndex;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes a replica over to another application's table without a gap in its answers. That table is
 * opened beside the one that serves, takes its place once every query can be answered from it, and
 * the former one goes when no other replica answers from it any more. Until then it goes on, for as
 * long as that takes: two tables at most, and what it waits for is said every minute.
 *
 * <p>One daemon thread does it all. Start once, close once.
 */
public final class TableSwap implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TableSwap.class);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private final ServingIndex index;
  private final Function<String, ServedTable> opener;
  private final Pace pace;
  private final SwapMeters meters;
  private final Complaint complaint;
  private final Thread thread = new Thread(this::run, "kvindex-swap");
  private volatile String wanted;
  private volatile boolean closed;
  private Duration pause;

  /** Whether the table beside is a former one, and not one that never served here. */
  private boolean besideServed;

  TableSwap(
      ServingIndex index, Function<String, ServedTable> opener, Pace pace, MeterRegistry registry) {
    this.index = index;
    this.opener = opener;
    this.pace = pace;
    meters = new SwapMeters(index, registry);
    complaint = new Complaint(pace.complain(), meters::late);
    wanted = index.serving();
    pause = pace.look();
    thread.setDaemon(true);
  }

  /**
   * Begins to serve what {@code index} has, and to wait for another one.
   *
   * @param index changed by this object alone from now on
   * @param opener opens the table of an application; it fills in the background. May throw, then it
   *     is asked again later
   */
  public static TableSwap start(
      ServingIndex index, Function<String, ServedTable> opener, MeterRegistry registry) {
    TableSwap swap = new TableSwap(index, opener, Pace.DEFAULT, registry);
    swap.thread.start();
    return swap;
  }

  void start() {
    thread.start();
  }

  /** Says which application is to serve. Does not wait. */
  public synchronized void toServe(String application) {
    wanted = application;
    notifyAll();
  }

  private void run() {
    try {
      while (!closed) {
        String application = wanted;
        Duration next = step(application);
        synchronized (this) {
          if (!closed && wanted.equals(application)) {
            wait(Math.max(1, next.toMillis()));
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns how long there is nothing to do. */
  private Duration step(String application) throws InterruptedException {
    try {
      if (!application.equals(index.serving())) {
        return approach(application);
      }
      return index.beside() == null ? LONGEST_PAUSE : release();
    } catch (RuntimeException | Error e) {
      // Without this thread the replica would never change over, and keep others from it.
      LOG.error("BUG: changing over to {} failed, it is tried again", application, e);
      return LONGEST_PAUSE;
    }
  }

  private Duration approach(String application) throws InterruptedException {
    // Whoever stands still while this one changes over is in the group no more when it looks then.
    index.table().noteReplicas();
    ServedTable beside = index.beside();
    if (beside == null) {
      return open(application);
    }
    String reason = beside.whyNotWhole();
    if (beside.application().equals(application)) {
      return reason == null ? change(beside) : waitFor(beside, reason);
    }
    if (besideServed) {
      return release();
    }
    // A third one is to serve before the second did here. Replicas that answer from the second keep
    // the first until this one does as well: to wait for them would be to wait for each other.
    if (reason == null) {
      return change(beside);
    }
    return beside.stillServedBy(pace.silence()).isEmpty() ? release() : waitFor(beside, reason);
  }

  private Duration waitFor(ServedTable next, String reason) {
    complaint.about(
        "application {} is to serve and not ready ({}): {} goes on serving",
        next.application(),
        reason,
        index.serving());
    return pace.look();
  }

  private Duration open(String application) {
    LOG.info(
        "application {} is to serve: its table is built beside the one that does", application);
    try {
      hold(opener.apply(application));
      complaint.withdraw();
      pause = pace.look();
      return pace.look();
    } catch (RuntimeException | Error e) {
      meters.notStarted();
      LOG.warn(
          "the table of application {} can not be opened, tried again in {} s: {} goes on serving",
          application,
          pause.toSeconds(),
          index.serving(),
          e);
      Duration now = pause;
      Duration doubled = pause.multipliedBy(2);
      pause = doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
      return now;
    }
  }

  /** Whoever closes this object closes the tables it finds then, and none that comes later. */
  private void hold(ServedTable opened) {
    synchronized (this) {
      if (!closed) {
        index.addBeside(opened);
        besideServed = false;
        return;
      }
    }
    opened.close();
  }

  private Duration change(ServedTable next) throws InterruptedException {
    ServedTable former = index.table();
    index.changing(true);
    try {
      overlap();
      String reason = next.whyNotWhole();
      if (closed) {
        return pace.look();
      }
      if (reason != null) {
        LOG.info("application {} was ready for a moment only: {}", next.application(), reason);
        return pace.look();
      }
      index.swap();
      besideServed = true;
      former.keeper().hideFigures();
      next.keeper().showFigures();
      meters.swapped();
      complaint.withdraw();
      LOG.info(
          "application {} serves from now on, {} no more",
          next.application(),
          former.application());
      overlap();
      return pace.look();
    } finally {
      index.changing(false);
    }
  }

  private synchronized void overlap() throws InterruptedException {
    long end = System.nanoTime() + pace.overlap().toNanos();
    for (long left = 1; !closed && left > 0; left = end - System.nanoTime()) {
      wait(left / 1_000_000 + 1);
    }
  }

  /** Lets the table go that does not serve, unless others still ask for it. */
  private Duration release() throws InterruptedException {
    ServedTable former = index.beside();
    if (former == null || isInUse(former)) {
      return pace.look();
    }
    // What the last of them began to ask before it changed over is answered still.
    overlap();
    if (closed || isInUse(former)) {
      return pace.look();
    }
    index.removeBeside();
    former.close();
    former.keeper().deleteRows();
    complaint.withdraw();
    LOG.info("the former table of application {} is gone", former.application());
    return pace.look();
  }

  private boolean isInUse(ServedTable former) throws InterruptedException {
    List<String> users = former.stillServedBy(pace.silence());
    if (!users.isEmpty()) {
      complaint.about(
          "the former table of application {} is kept for {}, which may still answer from it",
          former.application(),
          users);
    }
    return !users.isEmpty();
  }

  /** Waits for the step being done, and leaves the tables as they are. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    try {
      thread.join(pace.close().toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
