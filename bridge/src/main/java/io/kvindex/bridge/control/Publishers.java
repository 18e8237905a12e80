// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.control.Assignment.Entry;
import io.kvindex.bridge.control.Assignment.Newest;
import io.kvindex.bridge.follow.Followers;
import io.kvindex.bridge.follow.Following;
import io.kvindex.bridge.follow.Life;
import io.kvindex.bridge.follow.LifeClaims;
import io.kvindex.bridge.produce.LogEnds;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.LogPosition;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.registration.Generations.Placed;
import io.kvindex.model.registration.Registration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The publishers this bridge follows: starts them once their life is claimed, retires them once
 * they are unregistered. Control thread only; others may read {@link #all()}.
 */
final class Publishers {

  private static final Logger LOG = LoggerFactory.getLogger(Publishers.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final Followers followers;
  private final ControlRecords records;
  private final Map<PublisherId, Followed> followed = new ConcurrentHashMap<>();
  private final Retirements retirements;
  private final Steps steps;
  private final Lease lease;
  private final Generations generations;
  private final LogEnds logEnds;
  private final OncePerMinute warnings = new OncePerMinute();

  /**
   * @param steps what the control thread does next
   * @param lease without it nothing is claimed
   * @param generations of the site's epoch
   * @param logEnds how far the events log reaches before a life is claimed
   */
  Publishers(
      Followers followers,
      ControlRecords records,
      Retirements retirements,
      Steps steps,
      Lease lease,
      Generations generations,
      LogEnds logEnds) {
    this.followers = followers;
    this.records = records;
    this.retirements = retirements;
    this.steps = steps;
    this.lease = lease;
    this.generations = generations;
    this.logEnds = logEnds;
  }

  /** Those followed or about to be; any thread. */
  Collection<Followed> all() {
    return followed.values();
  }

  /** Those of a partition. */
  List<Followed> of(int partition) {
    return followed.values().stream().filter(f -> f.partition == partition).toList();
  }

  /**
   * Takes what a partition said of a publisher when it was read to its end.
   *
   * @param known newest progress in Kafka, null = none
   */
  void load(int partition, Newest newest, @Nullable KnownProgress known)
      throws InterruptedException {
    Entry entry = newest.entry();
    Registration registration = entry.registration();
    if (registration == null) {
      unregister(partition, entry, known);
    } else {
      long generation =
          known == null
              ? newest.generation()
              : generations.known(
                  registration, entry.offset(), newest.generation(), known.progress().generation());
      follow(new Followed(partition, entry.offset(), generation, registration), known);
    }
  }

  /** Follows the newest registration of a publisher, or stops where there is none any more. */
  void apply(int partition, Entry entry) throws InterruptedException {
    Registration registration = entry.registration();
    if (registration == null) {
      unregister(partition, entry, null);
      return;
    }
    Followed current = followed.get(entry.publisher());
    Placed replaced = current == null ? null : current.placed();
    long generation = generations.of(registration, entry.offset(), replaced);
    follow(new Followed(partition, entry.offset(), generation, registration), null);
  }

  private void follow(Followed next, @Nullable KnownProgress known) throws InterruptedException {
    Registration registration = next.registration;
    PublisherId publisher = registration.publisher();
    long generation = next.generation;
    Followed current = followed.get(publisher);
    if (current != null && current.generation == generation) {
      update(current, next.offset, registration);
      return;
    }
    if (current != null) {
      stop(current);
      followBehind(current.registration.table(), next);
    } else if (known != null && known.progress().generation() == generation) {
      followed.put(publisher, next);
      if (known.acked() == null) {
        // Nothing of that life was acknowledged, but something may be on its way to the log still.
        next.opens = true;
        next.retells = known.progress().retellsUntil();
        claim(next);
        return;
      }
      LOG.info("publisher={} goes on with {}", publisher, known.incarnation());
      start(
          next,
          new Life(
              registration,
              known.incarnation(),
              known.acked(),
              known.logNext(),
              known.isDegraded(),
              known.progress().retellsUntil(),
              false,
              known.ids(),
              known.progress().groups()));
      return;
    } else if (known != null) {
      followBehind(known.progress().table(), next);
    } else if (generations.epoch() > 0) {
      // Its progress may be lost, and its engine may have nothing more to say.
      followBehind(registration.table(), next);
    } else {
      followed.put(publisher, next);
      claim(next);
    }
  }

  /** Follows it once what its former generations announced to a table is fenced. */
  private void followBehind(TableId fenced, Followed next) {
    PublisherId publisher = next.registration.publisher();
    followed.put(publisher, next);
    retirements.fence(
        publisher, fenced, next.registration.type(), next.generation, () -> claimAgain(next));
  }

  private static void update(Followed current, long offset, Registration registration)
      throws InterruptedException {
    current.offset = offset;
    current.registration = registration;
    Following following = current.following;
    if (following != null) {
      following.update(registration);
    }
  }

  private void start(Followed target, Life life) throws InterruptedException {
    Following following = followers.start(life, (claim, done) -> claimNext(target, claim, done));
    target.following = following;
    if (target.contested > life.incarnation().life()) {
      following.contest(target.contested);
    }
  }

  /** Any thread: a follower asks for the life after its present one. */
  private void claimNext(Followed target, BridgeProgress claim, LifeClaims.Done done) {
    if (!lease.isHeld()) {
      done.done(-1, new IllegalStateException("not sure to be still the one who follows it"));
      return;
    }
    records.write(
        target.partition,
        claim.publisher(),
        claim,
        (metadata, problem) -> done.done(problem == null ? metadata.offset() : -1, problem));
  }

  /** Names a new life by the offset of this very record. */
  private void claim(Followed target) {
    Registration registration = target.registration;
    long end = logEnds.of(registration.table());
    BridgeProgress claim =
        BridgeProgress.claim(
            registration,
            target.generation,
            target.retells,
            end < 0 ? null : new LogPosition(end, 0));
    records.write(
        target.partition,
        registration.publisher(),
        claim,
        (metadata, problem) -> {
          if (problem == null) {
            steps.add(() -> claimed(target, metadata.offset()));
          } else {
            if (warnings.allows()) {
              LOG.warn("publisher={} life not claimed: {}", registration.publisher(), problem);
            }
            steps.addLater(() -> claimAgain(target), RETRY);
          }
        });
  }

  private void claimed(Followed target, long offset) throws InterruptedException {
    if (target.gone) {
      return;
    }
    Incarnation incarnation = new Incarnation(target.generation, offset, 0);
    LOG.info("publisher={} starts {}", target.registration.publisher(), incarnation);
    start(
        target,
        new Life(
            target.registration,
            incarnation,
            null,
            logEnds.of(target.registration.table()),
            false,
            target.retells,
            target.opens,
            Map.of(),
            List.of()));
  }

  private void claimAgain(Followed target) {
    if (!target.gone) {
      claim(target);
    }
  }

  private void unregister(int partition, Entry entry, @Nullable KnownProgress known)
      throws InterruptedException {
    Followed current = followed.remove(entry.publisher());
    if (current != null) {
      stop(current);
      Registration ended = current.registration;
      retire(partition, entry, ended.table(), ended.type());
    } else if (known != null) {
      retire(partition, entry, known.progress().table(), known.progress().type());
    }
  }

  private void retire(int partition, Entry entry, TableId table, SourceType type) {
    retire(partition, entry.publisher(), table, type, generations.at(entry.offset()));
  }

  /** Retires for good: the progress is taken back once the tables can know. */
  void retire(
      int partition, PublisherId publisher, TableId table, SourceType type, long generation) {
    LOG.info("publisher={} is retired by generation={}", publisher, generation);
    retirements.fence(publisher, table, type, generation, () -> forget(partition, publisher));
  }

  private void forget(int partition, PublisherId publisher) {
    if (!followed.containsKey(publisher)) {
      records.write(partition, publisher, null, (metadata, problem) -> {});
    }
  }

  /**
   * Another bridge wrote about a publisher that is followed here: it was assigned it before and has
   * not noticed yet, or was stopped and goes on. Whoever owns it has the last word, so that nobody
   * is ever sent back to a life that is fenced.
   */
  void onForeignProgress(PublisherId publisher, @Nullable KnownProgress seen) {
    Followed target = followed.get(publisher);
    if (target == null) {
      return;
    }
    target.contradicted();
    if (seen != null && seen.progress().generation() == target.generation) {
      target.contested = Math.max(target.contested, seen.life());
      Following following = target.following;
      if (following != null) {
        steps.add(() -> following.contest(seen.life()));
      }
    }
  }

  /** Stops reading; its progress is not written any more. */
  private static void stop(Followed target) throws InterruptedException {
    target.gone = true;
    Following following = target.following;
    if (following != null) {
      following.stop();
    }
  }

  /** Stops those and forgets them; the caller may still write their last progress. */
  void release(Collection<Followed> some) throws InterruptedException {
    for (Followed target : new ArrayList<>(some)) {
      followed.remove(target.registration.publisher(), target);
      Following following = target.following;
      if (following != null) {
        following.stop();
      } else {
        target.gone = true;
      }
    }
  }
}
