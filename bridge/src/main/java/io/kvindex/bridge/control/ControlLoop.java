// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.follow.Followers;
import io.kvindex.bridge.follow.Following;
import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.LogEnds;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control thread: takes its share of the registrations topic as a member of the bridges' group,
 * follows the publishers registered there and writes their progress.
 */
public final class ControlLoop implements ConsumerRebalanceListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ControlLoop.class);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration CLOSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_READ = Duration.ofSeconds(30);
  private static final long LOOK_NS = TimeUnit.MINUTES.toNanos(1);

  /** A lost connection is to be in all answers within a second. */
  private static final long NEWS_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Records that whoever takes over has to read for the sake of a silent publisher, about. */
  private static final long MOST_UNREAD = 10_000;

  /** Records of other bridges' progress that wait to be looked at. */
  private static final int MOST_FOREIGN = 1_024;

  private final Consumer<byte[], byte[]> consumer;
  private final WakefulPoll poll;
  private final ControlRecords records;
  private final WholeReader whole;
  private final ProgressReader progressReader;
  private final Publishers publishers;
  private final Share share;
  private final long progressNs;
  private final Thread thread;
  private final OncePerMinute warnings = new OncePerMinute();
  private final Steps steps;
  private final Lease lease;
  private final EventLogReader eventLog;
  private final LogEnds logEnds;
  private final Semaphore foreignRoom = new Semaphore(MOST_FOREIGN);
  private volatile boolean running = true;
  private volatile boolean abrupt;
  private long nextProgressNs = System.nanoTime();
  private long nextLookNs = System.nanoTime() + LOOK_NS;
  private long nextNewsNs = System.nanoTime();

  /**
   * Takes its consumers; {@link #start} starts the thread.
   *
   * @param group consumer in the bridges' group; closed with this object
   * @param single consumer without a group; closed with this object
   * @param progressEvery how often changed progress is written
   * @param session after how much silence the group thinks a member dead
   * @param generations of the site's epoch
   */
  public ControlLoop(
      Consumer<byte[], byte[]> group,
      Consumer<byte[], byte[]> single,
      Producer<byte[], byte[]> producer,
      EventSink sink,
      Followers followers,
      BridgeMetrics metrics,
      Duration progressEvery,
      Duration session,
      Generations generations) {
    lease = new Lease(session);
    records = new ControlRecords(producer, metrics);
    consumer = group;
    poll = new WakefulPoll(group);
    steps = new Steps(poll::wakeUp);
    whole = new WholeReader(single, LONGEST_READ, lease);
    progressReader = new ProgressReader(whole);
    logEnds = sink.ends();
    publishers =
        new Publishers(
            followers,
            records,
            new Retirements(sink, metrics, steps),
            steps,
            lease,
            generations,
            logEnds);
    eventLog = new EventLogReader(single, logEnds, LONGEST_READ, lease);
    share = new Share(group, whole, progressReader, eventLog, publishers, generations);
    progressNs = progressEvery.toNanos();
    thread = new Thread(this::run, "bridge-control");
  }

  /** Joins the group. */
  public void start() {
    thread.start();
  }

  /** Followed publishers; any thread. */
  public List<WorkerStatus> workers() {
    return followings().map(Following::status).toList();
  }

  /**
   * When the oldest batch was read that Kafka does not have yet, empty = it has all; any thread.
   */
  public OptionalLong oldestUnackedMicros() {
    return followings()
        .mapToLong(Following::oldestUnackedMicros)
        .filter(micros -> micros != 0)
        .min();
  }

  private Stream<Following> followings() {
    return publishers.all().stream().map(followed -> followed.following).filter(Objects::nonNull);
  }

  /** Whether this bridge has its share of the publishers and knows them all; any thread. */
  public boolean isSettled() {
    return share.isLoaded()
        && publishers.all().stream().allMatch(followed -> followed.following != null);
  }

  /** Whether the thread is alive; any thread. */
  public boolean isAlive() {
    return thread.isAlive();
  }

  private void run() {
    try {
      consumer.subscribe(List.of(Topics.REGISTRATIONS), this);
      while (running) {
        turnSafely();
      }
      if (!abrupt) {
        handOver(publishers.all());
      }
    } catch (InterruptedException | InterruptException e) {
      LOG.info("control thread was interrupted");
    } finally {
      whole.close();
      consumer.close(
          CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
              .withTimeout(CLOSE));
    }
  }

  private void turnSafely() throws InterruptedException {
    try {
      turn();
    } catch (WakeupException e) {
      LOG.debug("woken to close");
    } catch (InterruptException e) {
      throw e;
    } catch (KafkaException e) {
      if (warnings.allows()) {
        LOG.warn("control goes on after: {}", e.toString());
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    } catch (RuntimeException e) {
      if (warnings.allows()) {
        LOG.error("BUG: control goes on after an exception", e);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private void turn() throws InterruptedException {
    if (!lease.isHeld()) {
      rejoin();
    }
    lease.renew();
    ConsumerRecords<byte[], byte[]> registrations = poll.poll(this::pause);
    if (!registrations.isEmpty()) {
      look();
    }
    for (ConsumerRecord<byte[], byte[]> record : registrations) {
      share.note(record);
    }
    share.loadIfDue();
    steps.run();
    if (System.nanoTime() - nextProgressNs >= 0) {
      lookIfDue();
      for (Followed followed : publishers.all()) {
        lease.renew(); // a send may wait for Kafka
        records.write(followed);
      }
      nextProgressNs = System.nanoTime() + progressNs;
    } else if (System.nanoTime() - nextNewsNs >= 0) {
      writeConnectionNews();
      nextNewsNs = System.nanoTime() + NEWS_NS;
    }
  }

  /** What is registered, and steps that are added, end it. */
  private Duration pause() {
    return steps.pause(nextNewsNs - System.nanoTime());
  }

  /** Not left to the next round of all progress. */
  private void writeConnectionNews() {
    for (Followed followed : publishers.all()) {
      if (followed.hasConnectionNews()) {
        lease.renew(); // a send may wait for Kafka
        records.write(followed);
      }
    }
  }

  /** Whoever takes over reads the log on from where it ends now, at most. */
  private void look() {
    try {
      eventLog.look();
    } catch (TimeoutException e) {
      LOG.debug("the log's end is not known now, an older one will do: {}", e.toString());
    }
  }

  /** A silent publisher's place in the log goes on with the log, but is seldom written for that. */
  private void lookIfDue() {
    if (System.nanoTime() - nextLookNs < 0) {
      return;
    }
    nextLookNs = System.nanoTime() + LOOK_NS;
    look();
    for (Followed followed : publishers.all()) {
      Following following = followed.following;
      long end = following == null ? -1 : logEnds.of(following.table());
      if (following != null && end - following.logNext() > MOST_UNREAD) {
        following.logReaches(end);
      }
    }
  }

  /**
   * Takes a record of the progress topic. What a bridge that lost its share writes of it all the
   * same is seldom; what is not loaded yet, the step comes behind the load. Waits while very many
   * are waiting: at a start the whole topic may come. Any thread but the control thread.
   */
  public void noteProgress(ConsumerRecord<byte[], byte[]> record) {
    if (!share.has(record.partition()) || records.isOwn(record) || !awaitRoom()) {
      return;
    }
    steps.add(
        () -> {
          foreignRoom.release();
          noteForeign(record);
        });
  }

  /** Waits for room; false = this object ends. */
  private boolean awaitRoom() {
    try {
      while (running) {
        if (foreignRoom.tryAcquire(PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
          return true;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  private void noteForeign(ConsumerRecord<byte[], byte[]> record) {
    ProgressReader.Seen seen =
        share.hasLoaded(record.partition()) ? progressReader.behind(record) : null;
    if (seen != null) {
      publishers.onForeignProgress(seen.publisher(), seen.progress());
    }
  }

  /** After so long without a turn the group may have given everything to others. */
  private void rejoin() throws InterruptedException {
    LOG.warn("this process was stopped for a while: it gives up its publishers and joins anew");
    share.clear();
    publishers.release(publishers.all());
    consumer.unsubscribe();
    consumer.subscribe(List.of(Topics.REGISTRATIONS), this);
  }

  @Override
  public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
    if (partitions.isEmpty()) {
      return;
    }
    share.add(partitions);
    poll.wakeUp(); // nothing comes of them before they are loaded
    LOG.info("assigned registrations partitions={}", partitions.size());
  }

  @Override
  public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
    LOG.info("revoked registrations partitions={}", partitions.size());
    try {
      for (TopicPartition partition : partitions) {
        share.remove(partition.partition());
        if (!abrupt) {
          handOver(publishers.of(partition.partition()));
        }
      }
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  /** Another bridge may follow them already: what is not written down now must not be any more. */
  @Override
  public void onPartitionsLost(Collection<TopicPartition> partitions) {
    LOG.warn("lost registrations partitions={}", partitions.size());
    try {
      for (TopicPartition partition : partitions) {
        share.remove(partition.partition());
        publishers.release(publishers.of(partition.partition()));
      }
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  /** Stops them and writes down, while Kafka answers, exactly how far they got. */
  private void handOver(Collection<Followed> some) throws InterruptedException {
    List<Followed> leaving = List.copyOf(some);
    publishers.release(leaving);
    await(
        () ->
            leaving.stream()
                .map(followed -> followed.following)
                .allMatch(following -> following == null || following.isSettled()));
    await(
        () -> {
          records.write(leaving);
          return records.isWritten(leaving);
        });
  }

  private void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + CLOSE.toNanos();
    while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
      lease.renew();
      LockSupport.parkNanos(PAUSE.toNanos() / 10);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  /** From now on nothing is written down, as if the process were killed. For tests. */
  public void stopWriting() {
    abrupt = true;
    running = false;
  }

  /** Stops all followers, writes their progress and leaves the group: about 10 s at most. */
  @Override
  public void close() throws InterruptedException {
    running = false;
    consumer.wakeup();
    thread.join(TimeUnit.SECONDS.toMillis(20));
  }
}
