// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.query.remote.ReplicaClient.RefusedException;
import io.kvindex.query.remote.ReplicaStatus.Detail;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the other replicas four times a second how far they are, and what is visible of the
 * publishers whose tables are not here. Thread-safe; readers never wait.
 */
final class StatusWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StatusWatch.class);
  private static final long EVERY_MS = 250;

  /** One that has not been heard of for so long counts as gone. */
  static final long REACHABLE_MS = 2_000;

  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A status and when it came, as {@link System#nanoTime}. */
  record Heard(ReplicaStatus status, long nanos) {}

  private final IndexPartitions here;
  private final Transport transport;
  private final LongSupplier nanoTime;
  private final Standstill standstill;
  private final Map<String, Heard> heard = new ConcurrentHashMap<>();
  private final SignsOfLife signs;
  private final Map<String, String> problems = new ConcurrentHashMap<>();
  private final Counter notUnderstood;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "kvindex-status");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  StatusWatch(
      IndexPartitions here, Transport transport, MeterRegistry registry, LongSupplier nanoTime) {
    this.here = here;
    this.transport = transport;
    this.nanoTime = nanoTime;
    notUnderstood =
        Counter.builder("kvindex.status.not.understood")
            .description("what other replicas said of themselves and this version can't read")
            .register(registry);
    standstill = new Standstill(nanoTime);
    signs = new SignsOfLife(nanoTime.getAsLong());
  }

  /**
   * Looks from now on.
   *
   * @param after done after each look; may throw, it is done again all the same
   */
  void start(Runnable after) {
    Runnable both =
        () -> {
          look();
          try {
            after.run();
          } catch (RuntimeException e) { // the timer would never look again
            LOG.warn("what follows a look at the other replicas failed this time", e);
          }
        };
    timer.scheduleWithFixedDelay(both, 0, EVERY_MS, TimeUnit.MILLISECONDS);
  }

  /** What a replica said last, null = nothing yet, or it is none any more. */
  @Nullable Heard of(String address) {
    return heard.get(address);
  }

  /** Why a replica's last answer is none, for people; null = it is one, or there was none yet. */
  @Nullable String problemOf(String address) {
    return problems.get(address);
  }

  /** Whether a replica has lately not said anything though it was asked. */
  boolean isSilent(String address) {
    return signs.isSilent(address);
  }

  /** The same replicas, those that are silent last. */
  List<String> silentLast(List<String> addresses) {
    List<String> ordered = new ArrayList<>(addresses);
    ordered.sort(Comparator.comparing(this::isSilent));
    return ordered;
  }

  /** Whether this replica stood still until a moment ago, so that others know better. */
  boolean stoodStill() {
    return standstill.lately();
  }

  /** Whether it stood still for so long, and so lately, that its own answers are too old. */
  boolean isAwakening() {
    return standstill.isAwakening();
  }

  /** A partition as the best of its other holders sees it, null = none of them has told yet. */
  @Nullable Detail detail(int partition) {
    for (String holder : here.holders(partition).inOrder()) {
      Heard last = heard.get(holder);
      Detail detail = last == null ? null : last.status().details().get(partition);
      if (detail != null) {
        return detail;
      }
    }
    return null;
  }

  /** Whether a partition's publishers are better asked for elsewhere. */
  boolean isElsewhere(int partition) {
    PartitionView view = here.view(partition);
    boolean followed = view != null && view.complete() && view.state() != State.CLOSED;
    return !followed && !here.holders(partition).inOrder().isEmpty();
  }

  /**
   * How many of the other replicas that take traffic, and were heard of just now, have a partition
   * whole and kept up.
   */
  int copies(int partition) {
    long now = nanoTime.getAsLong();
    int copies = 0;
    for (String holder : here.holders(partition).inOrder()) {
      Heard last = heard.get(holder);
      if (last != null
          && TimeUnit.NANOSECONDS.toMillis(now - last.nanos()) <= REACHABLE_MS
          && last.status().has(partition)) {
        copies++;
      }
    }
    return copies;
  }

  /** How many of the other replicas take traffic and were heard of just now. */
  int takingTraffic() {
    long now = nanoTime.getAsLong();
    return (int)
        heard.values().stream()
            .filter(last -> TimeUnit.NANOSECONDS.toMillis(now - last.nanos()) <= REACHABLE_MS)
            .filter(last -> last.status().notReady() == null)
            .count();
  }

  /** One look; the timer does that. */
  void look() {
    standstill.beat();
    try {
      List<String> others = here.otherReplicas();
      signs.asking(others, nanoTime.getAsLong());
      heard.keySet().retainAll(others);
      problems.keySet().retainAll(others);
      if (!others.isEmpty()) {
        byte[] question = question();
        others.forEach(
            other ->
                transport.ask(
                    other,
                    ReplicaService.STATUS,
                    question,
                    ANSWER_NANOS,
                    (body, problem) -> take(other, body, problem)));
      }
    } catch (RuntimeException e) {
      LOG.error("BUG: the other replicas are not asked this time", e);
    }
  }

  private byte[] question() {
    List<Integer> wanted = new ArrayList<>();
    for (int i = 0; i < here.partitions(); i++) {
      if (isElsewhere(i)) {
        wanted.add(i);
      }
    }
    RecordWriter out = new RecordWriter(64);
    out.writeByte(WalkRequest.VERSION);
    out.writeVarint(wanted.size());
    wanted.forEach(out::writeVarint);
    return out.toByteArray();
  }

  private void take(String address, byte @Nullable [] body, @Nullable Throwable problem) {
    if (body == null) { // what it said last stays, and grows old
      if (problem instanceof RefusedException) {
        signs.of(address, nanoTime.getAsLong());
      }
      problems.put(address, problem == null ? "no answer" : problem.toString());
      return;
    }
    try {
      long now = nanoTime.getAsLong();
      heard.put(address, new Heard(ReplicaStatus.decode(body), now));
      signs.of(address, now);
      problems.remove(address);
    } catch (MalformedRecordException | IllegalArgumentException e) {
      notUnderstood.increment();
      problems.put(address, "not understood: " + e.getMessage());
      LOG.warn(
          "replica {} tells of itself what this version can't read, and counts as silent: {}",
          address,
          e.getMessage());
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
