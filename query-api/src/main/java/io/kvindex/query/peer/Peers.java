// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The peers of this replica: a list, and what their dumps say of publishers that have said nothing
 * themselves. Dumps are read one after the other in the background. Thread-safe.
 */
public final class Peers implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);

  /** Peers listed at most. */
  static final int MAX_PEERS = 64;

  private static final Duration HELD_FOR = Duration.ofMinutes(15);

  /** A registered engine is heard of within some ten milliseconds: imports must be before that. */
  private static final long LOOK_MS = 5;

  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final PeerMeters meters;
  private final PeerClient client;
  private final HeldBlocks held;
  private final ImportLog log;
  private final Set<String> urls = new LinkedHashSet<>();
  private final ExecutorService fetcher =
      new ThreadPoolExecutor(
          0,
          1,
          1,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MAX_PEERS),
          task -> daemon(task, "kvindex-peer-dump"));
  private final ScheduledExecutorService importer =
      Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "kvindex-peer-import"));
  private boolean looking;

  /**
   * @param kafka client settings, at least {@code bootstrap.servers}
   */
  public Peers(
      Supplier<RegistrationSnapshot> registrations,
      IndexAccess index,
      Map<String, Object> kafka,
      MeterRegistry registry) {
    this(
        registrations,
        index,
        () -> ImportLog.producer(kafka),
        PeerClient.Bounds.DEFAULT,
        HELD_FOR,
        registry);
  }

  Peers(
      Supplier<RegistrationSnapshot> registrations,
      IndexAccess index,
      Supplier<Producer<byte[], byte[]>> producer,
      PeerClient.Bounds bounds,
      Duration heldFor,
      MeterRegistry registry) {
    this.registrations = registrations;
    this.index = index;
    meters = new PeerMeters(registry);
    client = new PeerClient(bounds);
    held = new HeldBlocks(bounds.blocks(), heldFor.toNanos(), meters);
    log = new ImportLog(producer, meters);
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Refuses what is no address of a peer.
   *
   * @throws IllegalArgumentException if it is no http or https URL with a host
   */
  public static void requireUrl(String url) {
    try {
      PeerClient.normal(url);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("peer `" + url + "` is " + e.getMessage(), e);
    }
  }

  PeerMeters meters() {
    return meters;
  }

  /** Listed peers, oldest first. */
  synchronized List<String> urls() {
    return new ArrayList<>(urls);
  }

  /**
   * Lists a peer.
   *
   * @return false if the list is full
   */
  synchronized boolean add(String url) {
    return urls.contains(url) || urls.size() < MAX_PEERS && urls.add(url);
  }

  /** Takes a peer off the list; whether it was on it. */
  synchronized boolean remove(String url) {
    return urls.remove(url);
  }

  /**
   * Lists the peers a replica is started with, and takes over the dump of the first one that has
   * one.
   *
   * @param peers URLs
   * @return completed when that is done, or none has: with the peer, or nothing
   * @throws IllegalArgumentException if one is no URL
   */
  public CompletableFuture<String> recover(List<String> peers) {
    List<String> normal = peers.stream().map(PeerClient::normal).toList();
    normal.forEach(this::add);
    return fetch(normal)
        .thenApply(
            taken -> {
              if (taken.isEmpty() && !normal.isEmpty()) {
                LOG.warn("no peer has a dump: starting without");
              }
              return taken;
            });
  }

  /**
   * Takes over the dump of the first of some peers that has one in the background, if the queue of
   * such is not full; completed with it, or nothing.
   */
  CompletableFuture<String> fetch(List<String> peers) {
    try {
      return CompletableFuture.supplyAsync(
          () -> peers.stream().filter(this::take).findFirst().orElse(""), fetcher);
    } catch (RejectedExecutionException e) {
      meters.fetch(false);
      LOG.warn("peer={} is not asked for its dump: too many wait to be", String.join(",", peers));
      return CompletableFuture.completedFuture("");
    }
  }

  private boolean take(String peer) {
    try {
      DumpReader.Dump dump = client.dump(peer);
      dump.leftOut().forEach(meters::blocks);
      held.add(dump.blocks(), System.nanoTime());
      meters.fetch(true);
      LOG.info("peer={} dumped blocks of {} publishers", peer, dump.blocks().size());
      importer.execute(this::look);
      return true;
    } catch (IOException | RuntimeException e) {
      meters.fetch(false);
      LOG.warn("peer={} has no dump: {}", peer, e.toString());
      return false;
    }
  }

  /** Importer's thread: imports what it can, and looks again while something waits. */
  private void look() {
    try {
      held.settle(registrations.get(), index, System.nanoTime(), log::write);
    } catch (RuntimeException e) {
      LOG.error("imports failed, going on", e);
    }
    if (!looking && !held.isEmpty()) {
      looking = true;
      importer.schedule(
          () -> {
            looking = false;
            look();
          },
          LOOK_MS,
          TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void close() {
    fetcher.shutdownNow();
    importer.shutdownNow();
    try {
      importer.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    log.close();
  }
}
