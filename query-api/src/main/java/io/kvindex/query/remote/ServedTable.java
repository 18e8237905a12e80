// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.overview.Cluster;
import io.kvindex.query.remote.ReplicaService.Held;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One application's table as this replica has it: what is here, and the way to what others hold.
 * Thread-safe. Close once.
 */
public final class ServedTable implements AutoCloseable {

  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String application;
  private final Held held;
  private final Keeper keeper;
  private final ReplicatedIndexAccess all;
  private final TableUsers users = new TableUsers();

  /** Who keeps the table up, in this process. */
  public interface Keeper {

    /** Its figures are the replica's from now on. */
    void showFigures();

    /** They are not any more. */
    void hideFigures();

    /** The other replicas are told that this one is about to go. */
    void announceLeaving();

    /** Leaves the group; what is in memory stays readable. May be called again. */
    void close();

    /** Deletes its rows from the disk; closed before. */
    void deleteRows();
  }

  /**
   * @param application its id in Kafka
   * @param own what this process holds
   * @param partitions the same by partition, and who holds the others
   * @param keeper closed with this object
   * @param registry figures of questions to other replicas go there
   */
  public ServedTable(
      String application,
      IndexAccess own,
      IndexPartitions partitions,
      Keeper keeper,
      MeterRegistry registry) {
    this(
        application,
        new Held(own, partitions),
        keeper,
        new ReplicatedIndexAccess(application, own, partitions, registry));
  }

  ServedTable(String application, Held held, Keeper keeper, ReplicatedIndexAccess all) {
    this.application = application;
    this.held = held;
    this.keeper = keeper;
    this.all = all;
  }

  /** Its application's id in Kafka. */
  public String application() {
    return application;
  }

  /** All of it, wherever it is. */
  public IndexAccess index() {
    return all;
  }

  /** From now on it is asked in place of another one of this replica: see {@link #index}. */
  void goOnFor(ServedTable former) {
    all.goOnFor(former.all);
  }

  /** Who keeps it up here. */
  public Keeper keeper() {
    return keeper;
  }

  /** Who holds what of it. */
  public Cluster cluster() {
    return all.cluster();
  }

  /** What is here, for other replicas to ask. */
  public Held held() {
    return held;
  }

  /**
   * Why not every query can be answered from it, null = every one can: each partition is whole and
   * kept up here, or on another replica that has said so just now and stays.
   */
  public @Nullable String whyNotWhole() {
    IndexPartitions here = held.partitions();
    String reason = here.notReadyReason();
    for (int i = 0; reason == null && i < here.partitions(); i++) {
      if (!isWholeHere(i) && all.others().copies(i) == 0) {
        reason = "partition " + i + " is whole on no replica that stays";
      }
    }
    return reason;
  }

  private boolean isWholeHere(int partition) {
    PartitionView view = held.partitions().view(partition);
    return view != null
        && view.complete()
        && view.state() == State.LIVE
        && held.partitions().keepsUp(partition);
  }

  /** On how many other replicas that stay each partition is whole: the least of these numbers. */
  public int leastCopiesElsewhere() {
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < held.partitions().partitions(); i++) {
      least = Math.min(least, all.others().copies(i));
    }
    return least;
  }

  /** {@code host:port} of the other replicas that have a share in it, as the group has told. */
  public List<String> otherReplicas() {
    return held.partitions().otherReplicas();
  }

  /**
   * Remembers the replicas that have a share in it now: one that stands still, or is cut off from
   * Kafka, leaves the group and goes on answering from it later. For the thread that asks {@link
   * #stillServedBy}.
   */
  public void noteReplicas() {
    users.note(otherReplicas());
  }

  /**
   * Those of its other replicas that may still answer queries from it: all, of now and noted
   * before, that have not said that they answer from another one. Waits for them, a second at most;
   * not for threads that answer queries, and always for the same one.
   *
   * @param silence one that is not in the group any more counts as gone when it has not answered
   *     for so long
   */
  public List<String> stillServedBy(Duration silence) throws InterruptedException {
    List<String> members = otherReplicas();
    users.note(members);
    return users.after(
        servingOf(users.known()), application, members, System.nanoTime(), silence.toNanos());
  }

  /**
   * Those of its other replicas that have said just now that they answer from it; waits as that.
   */
  public List<String> servedBy() throws InterruptedException {
    List<String> others = otherReplicas();
    Map<String, String> serving = servingOf(others);
    return others.stream().filter(other -> application.equals(serving.get(other))).toList();
  }

  /** What each of them says it answers from; the silent ones are missing. */
  private Map<String, String> servingOf(Collection<String> replicas) throws InterruptedException {
    Map<String, String> serving = new ConcurrentHashMap<>();
    CountDownLatch answers = new CountDownLatch(replicas.size());
    byte[] question = {WalkRequest.VERSION};
    for (String replica : replicas) {
      all.transport()
          .ask(
              replica,
              ReplicaService.SERVING,
              question,
              ANSWER_NANOS,
              (body, problem) -> {
                note(replica, body, serving);
                answers.countDown();
              });
    }
    answers.await(ANSWER_NANOS, TimeUnit.NANOSECONDS);
    return Map.copyOf(serving);
  }

  private static void note(String other, byte @Nullable [] body, Map<String, String> serving) {
    try {
      if (body != null) {
        serving.put(other, ServingAnswer.decode(body).application());
      }
    } catch (MalformedRecordException e) {
      serving.remove(other);
    }
  }

  /** Asks others no more and leaves the group. */
  @Override
  public void close() {
    all.close();
    keeper.close();
  }
}
