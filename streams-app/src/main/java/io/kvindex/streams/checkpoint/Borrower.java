// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.view.CheckpointOffer;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches checkpoints of partitions this process has none of, one at a time. Whoever lacks the
 * fewest records is asked first, then whoever has the newest; a lender that is busy is waited for,
 * unless another one has as much. Thread-safe.
 */
public final class Borrower {

  private static final Logger LOG = LoggerFactory.getLogger(Borrower.class);

  /** For all lenders that are busy together; then the log is read. */
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** Half as long, or once and a half: several that wait should not come at the same instant. */
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** A lender that is being restarted should not cost what the log has forgotten. */
  private static final int MOST_FAILURES = 3;

  private static final long START_NS = TimeUnit.SECONDS.toNanos(30);
  private static final long SILENT_NS = TimeUnit.SECONDS.toNanos(5);

  private final Supplier<List<String>> places;
  private final MeterRegistry metrics;
  private final Duration patience;
  private final long pauseNs;

  private final long createdNs = System.nanoTime();

  /** When each answered last. */
  private final Map<String, Long> answeredNs = new HashMap<>();

  /** Who does not answer is not asked for each partition anew. */
  private final Map<String, Long> silentUntilNs = new HashMap<>();

  private final ReentrantLock one = new ReentrantLock(true);
  private final SplittableRandom random = new SplittableRandom();

  /**
   * @param places of lenders, see {@link Lender#of}; asked anew for each checkpoint
   */
  public Borrower(Supplier<List<String>> places, MeterRegistry metrics) {
    this(places, metrics, PATIENCE, PAUSE);
  }

  /** Visible for tests. */
  Borrower(
      Supplier<List<String>> places, MeterRegistry metrics, Duration patience, Duration pause) {
    pauseNs = pause.toNanos();
    this.places = places;
    this.metrics = metrics;
    this.patience = patience;
  }

  private record Candidate(String place, Lender lender, CheckpointOffer offer) {}

  /** One partition's search. */
  private static final class Search {
    final Wanted wanted;
    final Path directory;
    final Progress progress;
    final Map<String, Integer> failures = new HashMap<>();

    /** Since when whoever lacks the fewest records has them. */
    long least = Long.MAX_VALUE;

    /** Somebody who is busy or does not answer may have it a little later. */
    boolean later;

    @Nullable IOException failure;

    Search(Wanted wanted, Path directory, Progress progress) {
      this.wanted = wanted;
      this.directory = directory;
      this.progress = progress;
    }

    /** Without what a lender has and could not hand over, blocks would be missing for good. */
    void requireNoneFailed() throws IOException {
      if (failure != null && wanted.logStart() > 0) {
        throw new IOException(
            "partition " + wanted.partition() + " did not come from who has it", failure);
      }
    }
  }

  /**
   * Fetches one in place of what is there. Returns when it is there and was read to its end, or no
   * lender has one that does; each refusal is logged and counted.
   *
   * @param directory of the partition's checkpoint, which nobody has open
   * @param progress bytes
   * @return what it is, null = there is none to be had, and nothing was changed
   * @throws IOException if it can not be put there
   */
  public @Nullable Header borrow(Wanted wanted, Path directory, Progress progress)
      throws IOException, InterruptedException {
    one.lockInterruptibly();
    try {
      silentUntilNs.values().removeIf(until -> System.nanoTime() - until >= 0);
      Search search = new Search(wanted, directory, progress);
      long began = System.nanoTime();
      while (true) {
        search.later = false;
        List<Candidate> candidates = candidates(search);
        for (Candidate each : candidates) {
          Header header = fetch(each, search);
          if (header != null) {
            return header;
          }
        }
        if (candidates.isEmpty() && !search.later) {
          search.requireNoneFailed();
          return null;
        }
        if (search.later && System.nanoTime() - began > patience.toNanos()) {
          count("busy");
          LOG.warn("nobody has lent partition {} within {}", wanted.partition(), patience);
          return null;
        }
        if (search.later) {
          pause();
        }
      }
    } finally {
      one.unlock();
    }
  }

  /**
   * Where all processes start together, or are restarted in turn, the one with what the log has
   * forgotten may come a little later.
   */
  private boolean mayComeBack(String place, Search search) {
    long since = System.nanoTime() - answeredNs.getOrDefault(place, createdNs);
    return search.wanted.logStart() > 0 && since < Math.min(START_NS, patience.toNanos());
  }

  /** Those that lack the fewest records, the newest first. */
  private List<Candidate> candidates(Search search) {
    List<Candidate> all = new ArrayList<>();
    places.get().stream()
        .filter(place -> search.failures.getOrDefault(place, 0) < MOST_FAILURES)
        .forEach(place -> ask(place, search, all));
    long least = all.stream().mapToLong(c -> c.offer().since()).min().orElse(Long.MAX_VALUE);
    search.least = Math.min(search.least, least);
    return all.stream()
        .filter(c -> c.offer().since() == least)
        .sorted(Comparator.comparingLong((Candidate c) -> c.offer().offset()).reversed())
        .toList();
  }

  private void ask(String place, Search search, List<Candidate> to) {
    Long silent = silentUntilNs.get(place);
    if (silent != null && System.nanoTime() - silent < 0) {
      search.later |= mayComeBack(place, search);
      return;
    }
    try {
      Lender lender = Lender.of(place);
      CheckpointOffer offer = lender.offer(search.wanted.partition());
      answeredNs.put(place, System.nanoTime());
      if (offer == null || offer.offset() < 0) {
        // What is being loaded there will be had.
        search.later |= offer != null && offer.busy();
      } else {
        search.wanted.require(offer);
        to.add(new Candidate(place, lender, offer));
      }
    } catch (CheckpointRefusedException e) {
      refused(place, search, e);
    } catch (IOException | IllegalArgumentException e) {
      failed(place, search, e);
      search.failures.remove(place);
      search.later |= mayComeBack(place, search);
      silentUntilNs.put(place, System.nanoTime() + SILENT_NS);
    }
  }

  private @Nullable Header fetch(Candidate from, Search search)
      throws IOException, InterruptedException {
    Wanted wanted = search.wanted;
    Replacement replacement = new Replacement(search.directory);
    Path part = replacement.begin();
    try {
      if (!from.lender().fetch(wanted, part, search.progress)) {
        search.later = true;
        return null;
      }
      Conversion.ifFormer(part);
      Header header = Verification.of(part, wanted.topicId(), wanted.partition());
      wanted.require(header.offer(0, false));
      replacement.end();
      borrowed(from.place(), header, search);
      return header;
    } catch (CheckpointRefusedException e) {
      refused(from.place(), search, e);
    } catch (IOException e) {
      failed(from.place(), search, e);
      search.failure = e;
      search.later = true; // tried again
    } finally {
      replacement.giveUp();
    }
    return null;
  }

  private void borrowed(String place, Header header, Search search) {
    Folded folded = header.folded();
    count("borrowed");
    LOG.info(
        "partition {} was borrowed from {}: records {} to {}",
        header.partition(),
        place,
        folded.lineageStart(),
        folded.offset());
    if (folded.lineageStart() > search.least) {
      LOG.warn(
          "what was borrowed of partition {} has no records before {}; another process has those"
              + " from {} on, and could not lend them",
          header.partition(),
          folded.lineageStart(),
          search.least);
    }
  }

  private void refused(String place, Search search, CheckpointRefusedException e) {
    search.failures.put(place, MOST_FAILURES);
    count(e.reason().label());
    LOG.warn(
        "the checkpoint of partition {} at {} is not borrowed ({}): {}",
        search.wanted.partition(),
        place,
        e.reason().label(),
        e.getMessage());
  }

  private void failed(String place, Search search, Exception e) {
    search.failures.merge(place, 1, Integer::sum);
    count("failed");
    LOG.info(
        "partition {} was not borrowed from {}: {}",
        search.wanted.partition(),
        place,
        e.toString());
  }

  private void count(String result) {
    metrics.counter("kvindex.borrowed", "result", result).increment();
  }

  private void pause() throws InterruptedException {
    LockSupport.parkNanos(pauseNs / 2 + random.nextLong(pauseNs));
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }
}
