// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.query.remote.Holders.Candidate;
import io.kvindex.query.remote.ReplicaClient.RefusedException;
import io.kvindex.query.remote.ReplicaStatus.Detail;
import io.kvindex.query.remote.ReplicaStatus.Part;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the other replicas how far they are, and what is visible of the publishers whose tables are
 * not here: once a second while all is kept up here, four times a second while something is not.
 * Thread-safe; readers never wait.
 */
final class ReplicaWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaWatch.class);

  private static final long FAST_MS = 250;
  private static final long SLOW_MS = 1_000;
  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A status and when it came, as {@link System#nanoTime}. */
  record Heard(ReplicaStatus status, long nanos) {}

  private final IndexPartitions here;
  private final Supplier<List<String>> others;
  private final Transport transport;
  private final LongSupplier nanoTime;
  private final FailureDetector detector;
  private final Map<String, Heard> heard = new ConcurrentHashMap<>();

  /**
   * From which offset each table of theirs was folded, as they said last: one that loads its table
   * says nothing, and has what it had.
   */
  private final Map<String, Map<Integer, Long>> beginnings = new ConcurrentHashMap<>();

  private final Map<String, String> problems = new ConcurrentHashMap<>();
  private final Counter notUnderstood;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "kvindex-status");
            thread.setDaemon(true);
            return thread;
          });
  private Runnable after = () -> {};
  private volatile @Nullable ScheduledFuture<?> next;
  private long dueNs;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param others {@code host:port} of the other replicas, in order; must not wait
   * @param nanoTime as {@link System#nanoTime}
   */
  ReplicaWatch(
      IndexPartitions here,
      Supplier<List<String>> others,
      Transport transport,
      MeterRegistry registry,
      LongSupplier nanoTime) {
    this.here = here;
    this.others = others;
    this.transport = transport;
    this.nanoTime = nanoTime;
    detector = new FailureDetector(nanoTime);
    notUnderstood =
        Counter.builder("kvindex.status.not.understood")
            .description("what other replicas said of themselves and this version can't read")
            .register(registry);
    dueNs = nanoTime.getAsLong();
  }

  /**
   * Looks from now on.
   *
   * @param after done after each look; may throw, it is done again all the same
   */
  void start(Runnable after) {
    this.after = after;
    timer.execute(this::run);
  }

  private void run() {
    look();
    try {
      after.run();
    } catch (RuntimeException e) { // nobody would look again
      LOG.warn("what follows a look at the other replicas failed this time", e);
    }
    try {
      next = timer.schedule(this::run, paceMs(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closed", e);
    }
  }

  /** What is here is not kept up: whoever is better has to be known now. */
  void hurry() {
    ScheduledFuture<?> waiting = next;
    if (waiting != null
        && waiting.getDelay(TimeUnit.MILLISECONDS) > FAST_MS
        && waiting.cancel(false)) {
      try {
        timer.execute(this::run);
      } catch (RejectedExecutionException e) {
        LOG.debug("closed", e);
      }
    }
  }

  private long paceMs() {
    for (int i = 0; i < here.partitions(); i++) {
      if (!here.keepsUp(i) || !isFollowed(i)) {
        return FAST_MS;
      }
    }
    return SLOW_MS;
  }

  private boolean isFollowed(int partition) {
    PartitionView view = here.view(partition);
    return view != null && !view.isClosed();
  }

  /** The other replicas, in order. */
  List<String> others() {
    return others.get();
  }

  /** What a replica said last, null = nothing yet, or it is none any more. */
  @Nullable Heard of(String address) {
    return heard.get(address);
  }

  /** Why a replica's last answer is none, for people; null = it is one, or there was none yet. */
  @Nullable String problemOf(String address) {
    return problems.get(address);
  }

  /** Told of questions that others ask, too. */
  FailureDetector detector() {
    return detector;
  }

  /** See {@link FailureDetector#isDead}. */
  boolean isDead(String address) {
    return detector.isDead(address);
  }

  /** Whom to ask about a partition. */
  Holders holders(int partition) {
    List<Candidate> candidates = new ArrayList<>();
    for (String address : others.get()) {
      Candidate candidate = candidate(address, partition);
      if (candidate != null) {
        candidates.add(candidate);
      }
    }
    return Holders.of(candidates, earliest(partition));
  }

  /**
   * Whether the table here lacks what was announced before its beginning, and somebody's does not,
   * dead or alive.
   */
  boolean lacksBeginning(int partition) {
    PartitionView view = here.view(partition);
    return view != null && view.since() > 0 && view.since() > earliest(partition);
  }

  /** The earliest offset anybody's table was folded from, as far as is known. */
  private long earliest(int partition) {
    PartitionView view = here.view(partition);
    long earliest = view == null ? Long.MAX_VALUE : view.since();
    for (Map<Integer, Long> since : beginnings.values()) {
      earliest = Math.min(earliest, since.getOrDefault(partition, Long.MAX_VALUE));
    }
    return earliest;
  }

  private @Nullable Candidate candidate(String address, int partition) {
    Heard last = heard.get(address);
    if (last == null) {
      int rank = rank(address, Candidate.READY_IF_AT_ALL);
      return new Candidate(address, rank, Long.MAX_VALUE, Candidate.UNKNOWN);
    }
    Part part = last.status().part(partition);
    if (part == null || !part.hasTable()) {
      return null;
    }
    int told = Candidate.BEHIND;
    if (part.progress().phase() == Phase.READY) {
      told = last.status().notReady() == null ? Candidate.READY : Candidate.READY_IF_AT_ALL;
    }
    return new Candidate(address, rank(address, told), part.recordsBehind(), part.since());
  }

  /**
   * @param told by itself
   */
  private int rank(String address, int told) {
    if (detector.isDead(address)) {
      return Candidate.DEAD;
    }
    return detector.isSuspect(address) ? Math.max(told, Candidate.SUSPECT) : told;
  }

  /** A partition as the best of its other holders sees it, null = none of them has told yet. */
  @Nullable Detail detail(int partition) {
    for (String holder : holders(partition).inOrder()) {
      Heard last = heard.get(holder);
      Detail detail = last == null ? null : last.status().details().get(partition);
      if (detail != null) {
        return detail;
      }
    }
    return null;
  }

  /**
   * Whether one of the others that lives has said that it keeps a partition up.
   *
   * @param copy only of that copy, null = of any
   */
  boolean isKeptUp(int partition, @Nullable String copy) {
    for (String address : others.get()) {
      Heard last = heard.get(address);
      if (last != null && !isDead(address) && (copy == null || copy.equals(last.status().copy()))) {
        Part part = last.status().part(partition);
        if (part != null && part.progress().phase() == Phase.READY) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether a partition's publishers are better asked for elsewhere. */
  boolean isElsewhere(int partition) {
    return !isFollowed(partition) && !others.get().isEmpty();
  }

  /** One look; the timer does that. */
  void look() {
    try {
      long now = nanoTime.getAsLong();
      List<String> asked = others.get();
      detector.asking(asked, now, dueNs);
      dueNs = now + TimeUnit.MILLISECONDS.toNanos(paceMs());
      heard.keySet().retainAll(asked);
      beginnings.keySet().retainAll(asked);
      problems.keySet().retainAll(asked);
      if (!asked.isEmpty()) {
        byte[] question =
            PlainMessage.encode(
                IntStream.range(0, here.partitions()).filter(this::isElsewhere).toArray());
        asked.forEach(
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

  private void take(String address, byte @Nullable [] body, @Nullable Throwable problem) {
    if (body == null) { // what it said last stays, and grows old
      if (problem instanceof RefusedException) {
        detector.answered(address);
        heard.remove(address); // that was another process, or of another log
        beginnings.remove(address);
      } else if (problem instanceof ConnectException) {
        detector.closed(address);
      }
      problems.put(address, problem == null ? "no answer" : problem.toString());
      return;
    }
    try {
      ReplicaStatus status = PlainMessage.decode(body, ReplicaStatus.class);
      Map<Integer, Long> since =
          beginnings.computeIfAbsent(address, same -> new ConcurrentHashMap<>());
      status.partitions().stream()
          .filter(Part::hasTable)
          .forEach(part -> since.put(part.partition(), part.since()));
      heard.put(address, new Heard(status, nanoTime.getAsLong()));
      detector.answered(address);
      problems.remove(address);
    } catch (MalformedRecordException e) {
      notUnderstood.increment();
      problems.put(address, "not understood: " + e.getMessage());
      warn(address, e);
    }
  }

  private void warn(String address, RuntimeException e) {
    if (warnings.allows()) {
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
