// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the transaction of a replica that died, instead of waiting for its timeout. Killed between
 * sending its offsets and the end of that transaction, it keeps whoever takes its partitions over
 * from learning where to go on, and standbys from reading rows behind it: for the transaction
 * timeout (10 s) and until the broker looks for such transactions (each 10 s).
 *
 * <p>Kafka Streams names a producer after its process, as it does the members of the group. A
 * process that is no member any more can not commit: its place in the group is checked with the
 * offsets. So its transaction has no other end than to be aborted. One that only stood still finds
 * its producer fenced and joins anew, as it would have to anyway.
 */
final class AbandonedTransactions implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AbandonedTransactions.class);
  private static final long LOOK_EVERY_MS = 500;

  /** Standbys may wait for a transaction when all partitions are long taken over. */
  private static final long AFTER_NS = TimeUnit.SECONDS.toNanos(30);

  private static final String PROCESS = "-\\p{XDigit}{8}(?:-\\p{XDigit}{4}){3}-\\p{XDigit}{12}";

  private final ProducersOfApp producers;
  private final BooleanSupplier rebalancing;
  private final Pattern producerId;
  private final Pattern memberId;
  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "kvindex-abandoned");
            thread.setDaemon(true);
            return thread;
          });
  private long untilNs = System.nanoTime() + AFTER_NS;

  /**
   * @param rebalancing whether partitions are changing hands
   */
  AbandonedTransactions(
      ProducersOfApp producers, String applicationId, BooleanSupplier rebalancing) {
    this.producers = producers;
    this.rebalancing = rebalancing;
    String process = "(" + Pattern.quote(applicationId) + PROCESS + ")";
    producerId = Pattern.compile(process + "-\\d+");
    memberId = Pattern.compile(process + "-StreamThread-\\d+-consumer");
  }

  /** Looks from now on, in the background, whenever partitions change hands. */
  void start() {
    looks.scheduleWithFixedDelay(
        this::lookSafely, LOOK_EVERY_MS, LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
  }

  private void lookSafely() {
    try {
      long now = System.nanoTime();
      if (rebalancing.getAsBoolean()) {
        untilNs = now + AFTER_NS;
      }
      if (untilNs - now > 0) {
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RuntimeException e) {
      LOG.debug("transactions not looked at", e);
    }
  }

  /** One look. Transactions come first: who has begun one and is no member afterwards, has left. */
  void look() throws InterruptedException, ExecutionException, TimeoutException {
    Set<String> abandoned = new TreeSet<>();
    for (String id : producers.ongoing()) {
      if (producerId.matcher(id).matches()) {
        abandoned.add(id);
      }
    }
    if (abandoned.isEmpty()) {
      return;
    }
    Set<String> present = processes(producers.members());
    if (present.isEmpty()) {
      return;
    }
    abandoned.removeIf(id -> present.contains(process(producerId, id)));
    if (!abandoned.isEmpty()) {
      LOG.warn("transactions={} are of replicas that are gone: aborted", abandoned);
      producers.fence(abandoned);
    }
  }

  /**
   * Empty where one has a name of the site's own: its producer is named after its process all the
   * same, so nobody can tell that it is there, and the timeout has to do.
   */
  private Set<String> processes(Set<String> members) {
    Set<String> processes = new HashSet<>();
    for (String member : members) {
      String process = process(memberId, member);
      if (process.isEmpty()) {
        return Set.of();
      }
      processes.add(process);
    }
    return processes;
  }

  private static String process(Pattern pattern, String name) {
    Matcher matcher = pattern.matcher(name);
    return matcher.matches() ? matcher.group(1) : "";
  }

  @Override
  public void close() {
    looks.shutdownNow();
  }
}
