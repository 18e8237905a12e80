// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.follow.BatchDecoder.Decoded;
import io.kvindex.bridge.follow.StreamPosition.Place;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.metrics.OncePerMinute;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.zmq.Clock;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.RawBatch;
import io.kvindex.bridge.zmq.ReplayFeed;
import io.kvindex.bridge.zmq.SubSocket;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows one publisher through its lives:
 *
 * <pre>
 * CONNECTING --connected--> JOINING: live batches wait, a replay brings what Kafka does not have yet
 *                              |  replay read to its end
 *                              v
 *                           DRAINING: the waiting ones, those the replay brought too are dropped
 *                              |  none left
 *                              v
 *                           LIVE --connected again, a hole, or a failed send--> JOINING
 *
 * any of the last three --the engine is another one--> CLAIMING --claim is durable--> JOINING from 0
 * </pre>
 *
 * All methods belong to the I/O thread unless they say otherwise.
 */
final class Follower implements IoLoop.Reader {

  private static final Logger LOG = LoggerFactory.getLogger(Follower.class);
  private static final int BATCHES_A_TURN = 256;
  private static final long POISON_NS = TimeUnit.SECONDS.toNanos(5);

  private enum Phase {
    CONNECTING,
    JOINING,
    DRAINING,
    LIVE,
    CLAIMING,
    STOPPED
  }

  private final Registration registration;
  private final FollowContext context;
  private final FollowStatus status;
  private final BatchPublisher publisher;
  private final LiveBuffer buffer;
  private final OncePerMinute warnings = new OncePerMinute();
  private final LifeJudge judge;
  private final StreamPosition position;
  private final IoLoop.Signal signal;
  private final Subscription subscription;
  private final CurrentLife life;
  private final Asking asking;
  private final Holes holes;
  private volatile boolean asksAgain;
  private volatile boolean claimsAgain;
  private Phase phase = Phase.CONNECTING;
  private @Nullable Long quietSince;
  private volatile boolean announces;
  private boolean tailChecked;
  private boolean poisoned;
  private long poisonedUntilNs;

  /** Highest life another bridge has claimed. */
  private long contested = -1;

  /** Whether the engine has yet to show that it is still the one that sent the last batch. */
  private boolean unproven;

  /** Any thread may make one. */
  Follower(Life start, FollowContext context, LifeClaims claims) {
    this.registration = start.registration();
    this.announces = start.opens();
    this.context = context;
    this.status = new FollowStatus(context.metrics(), start.degraded());
    this.publisher = new BatchPublisher(context, status, start);
    this.holes = new Holes(status);
    this.buffer = new LiveBuffer(context.limits().bufferedBatches(), context.buffers());
    this.judge = new LifeJudge(start.acked());
    this.position = new StreamPosition(start.acked() == null ? null : start.acked().sequence());
    this.signal = context.loop().signal(this::onSignal);
    this.life = new CurrentLife(start, claims, signal::raise);
    this.asking = new Asking(registration.replayEndpoint(), context, status, signal::raise);
    this.subscription = new Subscription(registration, context, status, this, signal::raise);
  }

  /** What others may see; any thread. */
  FollowStatus status() {
    return status;
  }

  /** What it counted, and what it has in memory; any thread. */
  Map<String, Long> counters() {
    return status.counters(buffer.size());
  }

  /** Attention groups this life's stores have told of; any thread. */
  List<GroupSpec> groups() {
    return publisher.groups();
  }

  /** The life followed and how far Kafka has it; any thread. */
  CurrentLife life() {
    return life;
  }

  /** When the oldest batch not acknowledged yet was read, 0 = all are; any thread. */
  long oldestUnackedMicros() {
    long sent = life.session().oldestUnackedMicros();
    return sent != 0 ? sent : buffer.oldestMicros();
  }

  /** Opens the subscription; tries again later where that is not possible now. */
  void open() {
    if (phase != Phase.STOPPED) {
      if (announces) {
        announce();
      }
      subscription.open(publisher::prepare);
    }
  }

  /** Goes on with a registration of the same generation. */
  void update(Registration changed) {
    publisher.update(changed);
  }

  /** Ends it; batches that still wait are counted as abandoned. */
  void stop() {
    phase = Phase.STOPPED;
    asking.cancel();
    subscription.close();
    status.outcome(FrameOutcome.ABANDONED, buffer.clear());
    holes.lifeEnded();
  }

  @Override
  public boolean wantsFrames() {
    return !buffer.isFull();
  }

  @Override
  public void onReopened() {
    pump();
  }

  private void onSignal() {
    if (phase == Phase.STOPPED) {
      return;
    }
    if (subscription.opensAgain()) {
      open();
    }
    if (announces) {
      announce();
    }
    if (phase == Phase.CLAIMING) {
      onClaimAnswered();
    } else if (life.session().failure() != null) {
      goBackToAcknowledged();
    } else if (subscription.takeNewConnection()) {
      onConnected();
    }
    pump();
    if (asksAgain && phase == Phase.LIVE) {
      asksAgain = false;
      if (Objects.equals(quietSince, position.last())) {
        join(Duration.ZERO);
      }
    }
  }

  /** Fences what an older life announced; again until Kafka has it, however quiet the engine is. */
  private void announce() {
    announces = false;
    publisher.begin(life.incarnation(), () -> later(() -> announces = true));
  }

  /** What was published while the connection was down, or before, only a replay can bring. */
  private void onConnected() {
    asking.noteAskedAt(null);
    tailChecked = false;
    unproven = position.last() != null;
    phase = Phase.CONNECTING;
    join(Duration.ZERO);
  }

  private void goBackToAcknowledged() {
    Exception cause = life.session().failure();
    SendSession.Acked acked = life.session().acked();
    if (warnings.allows()) {
      LOG.warn("publisher={} goes back to {}: {}", registration.publisher(), acked, cause);
    }
    status.problem("Kafka refused a record: " + cause);
    status.count("sends_failed", 1);
    if (acked == null && position.last() != null) {
      // Some of them may be in the log all the same, and nothing is known that could tell whose.
      endLife("Kafka refused its first batches");
      return;
    }
    life.goBack();
    position.moveTo(acked == null ? null : acked.sequence());
    asking.noteAskedAt(null);
    join(context.limits().retry());
  }

  /** Another bridge claimed that life: what is sent under an earlier one counts no more. */
  void contest(long claimed) {
    contested = Math.max(contested, claimed);
    if (phase != Phase.STOPPED
        && phase != Phase.CLAIMING
        && life.incarnation().life() < contested) {
      status.count("lives_contested", 1);
      endLife("another bridge has claimed life " + claimed);
    }
  }

  /** The engine is not the one that sent what came before: nothing of that counts any more. */
  private void endLife(String evidence) {
    LOG.info("publisher={} has a new life: {}", registration.publisher(), evidence);
    status.count("new_lives", 1);
    asking.cancel();
    phase = Phase.CLAIMING;
    status.phase(PublisherState.REPLAYING);
    life.claimNext();
  }

  private void onClaimAnswered() {
    Exception problem = life.takeRefusal();
    if (problem != null) {
      status.problem("a new life could not be claimed: " + problem);
      if (warnings.allows()) {
        LOG.warn("publisher={} life not claimed yet: {}", registration.publisher(), problem);
      }
      later(() -> claimsAgain = true);
    } else if (claimsAgain) {
      claimsAgain = false;
      life.claimNext();
    } else if (life.adopt() && life.incarnation().life() < contested) {
      life.claimNext();
    } else if (!life.isClaiming()) {
      announce();
      judge.begin();
      holes.lifeEnded();
      publisher.forget();
      position.moveTo(null);
      status.newLife();
      unproven = false;
      tailChecked = false;
      asking.noteAskedAt(null);
      join(Duration.ZERO);
    }
  }

  private void join(Duration delay) {
    asking.cancel();
    asksAgain = false;
    if (phase != Phase.LIVE) {
      status.phase(PublisherState.REPLAYING);
    }
    if (!asking.isPossible()) {
      phase = Phase.DRAINING;
      return;
    }
    phase = Phase.JOINING;
    SendSession.Acked acked = life.session().acked();
    asking.start(acked == null ? null : acked.sequence(), delay);
  }

  /** Asks for what is missing, or doubtful, where the stream stands. */
  private void ask() {
    asking.noteAskedAt(position.expected());
    join(Duration.ZERO);
  }

  /** Asks the replay once more unless live batches show before that nothing is missing. */
  private void askAgainIfQuiet() {
    quietSince = position.last();
    later(() -> asksAgain = true);
  }

  private void later(Runnable step) {
    context
        .replays()
        .later(
            () -> {
              step.run();
              signal.raise();
            },
            asking.pause());
  }

  @Override
  public void onReadable(SubSocket source) {
    for (int i = 0; i < BATCHES_A_TURN && wantsFrames() && context.sink().hasRoom(); i++) {
      List<byte[]> frames = phase == Phase.STOPPED ? null : source.receive();
      if (frames == null) {
        return;
      }
      onLive(frames);
    }
  }

  private void onLive(List<byte[]> frames) {
    status.received(false, 1);
    Frame frame = Frames.live(frames);
    if (!(frame instanceof Frame.Batch)) {
      status.outcome(FrameOutcome.MALFORMED, 1);
      status.problem("a live message is no batch: " + frame);
      return;
    }
    Frame.Batch batch = (Frame.Batch) frame;
    buffer.add(new RawBatch(batch.sequence(), batch.payload(), Clock.micros()));
    if (phase == Phase.LIVE || phase == Phase.DRAINING) {
      drain();
    } else if (phase == Phase.CONNECTING) {
      subscription.connected();
    }
  }

  /** Goes on with whatever there is to do and Kafka has room for. */
  private void pump() {
    if (phase == Phase.JOINING) {
      takeReplay();
    }
    if (phase == Phase.DRAINING || phase == Phase.LIVE) {
      drain();
    }
  }

  private void takeReplay() {
    while (phase == Phase.JOINING && context.sink().hasRoom()) {
      RawBatch batch = asking.poll();
      if (batch == null) {
        break;
      }
      takeReplayed(batch);
    }
    ReplayFeed.End end = phase == Phase.JOINING ? asking.takeEnd() : null;
    if (end != null) {
      endReplay(end.problem() == null);
    }
  }

  /** What the engine has under that number at this moment. */
  private void takeReplayed(RawBatch batch) {
    Place place = position.place(batch.sequence());
    if (place == Place.BEHIND) {
      LifeJudge.Verdict verdict = judge.ofReplayed(batch, publisher.timeMicros(batch));
      unproven &= verdict != LifeJudge.Verdict.SAME;
      boolean newLife = verdict == LifeJudge.Verdict.NEW_LIFE;
      status.outcome(newLife ? FrameOutcome.ASKED_AGAIN : FrameOutcome.DUPLICATE_OR_LATE, 1);
      if (newLife) {
        endLife("its replay has another batch " + Long.toUnsignedString(batch.sequence()));
      }
    } else if (unproven) {
      status.outcome(FrameOutcome.ASKED_AGAIN, 1);
      endLife("its replay does not have the last batch of the one before");
    } else {
      if (place == Place.NEXT && asking.wasAskedAt(batch.sequence())) {
        asking.noteAskedAt(null);
      }
      Decoded decoded = publisher.decode(batch);
      if (decoded.rejected() != null) {
        poisonedUntilNs = System.nanoTime() + POISON_NS;
        poisoned = true;
      }
      take(batch, decoded, place);
    }
  }

  private void endReplay(boolean complete) {
    phase = Phase.DRAINING;
    if (!complete) {
      asking.noteAskedAt(position.expected());
      askAgainIfQuiet();
    } else if (unproven || position.last() != null && asking.hasForgottenAll()) {
      endLife("its replay has nothing of the one before");
    } else if (!tailChecked) {
      // A batch sent after the replay's end and before the subscription took effect is in neither;
      // without a next batch nothing would tell.
      tailChecked = true;
      askAgainIfQuiet();
    }
  }

  private void drain() {
    while (context.sink().hasRoom() && (phase == Phase.DRAINING || phase == Phase.LIVE)) {
      RawBatch next = buffer.peek();
      if (next == null) {
        phase = Phase.LIVE;
        asking.noteAskedAt(null);
        status.phase(PublisherState.ACTIVE);
        return;
      }
      Place place = position.place(next.sequence());
      if (place == Place.BEHIND) {
        judgeBehind(next);
      } else {
        takeLive(next, place);
      }
    }
  }

  /** Leaves it in the buffer where something has to be found out first. */
  private void judgeBehind(RawBatch next) {
    switch (judge.ofLive(next, publisher.timeMicros(next))) {
      case SAME, LATE -> {
        if (Protection.DEDUPE.isOff()) {
          publisher.publish(next, publisher.decode(next), position.last(), null, life.session());
        }
        drop(FrameOutcome.DUPLICATE_OR_LATE);
      }
      case NEW_LIFE ->
          endLife("batch " + Long.toUnsignedString(next.sequence()) + " came again, later");
      case UNKNOWN -> {
        if (!publisher.isReadable(next)) {
          drop(FrameOutcome.UNREADABLE);
        } else if (asking.isWorthwhile(position.expected())) {
          unproven = true;
          ask();
        } else if (unproven) {
          endLife("batch " + Long.toUnsignedString(next.sequence()) + " came again");
        } else {
          drop(FrameOutcome.DUPLICATE_OR_LATE);
        }
      }
    }
  }

  private void takeLive(RawBatch next, Place place) {
    Decoded decoded = publisher.decode(next);
    // One that can not be read says nothing about whose it is; the replay may have it whole.
    boolean suspect =
        decoded.rejected() != null && !isPoisoned() || judge.isOlder(decoded.sourceMicros());
    boolean doubtful = place == Place.BEYOND || suspect;
    if (doubtful && asking.isWorthwhile(position.expected())) {
      if (place == Place.BEYOND) {
        holes.found(position.expected());
      }
      ask();
    } else if (place == Place.BEYOND && unproven) {
      endLife("it goes on at batch " + Long.toUnsignedString(next.sequence()));
    } else if (isForeign(place, suspect)) {
      drop(decoded.rejected() == null ? FrameOutcome.FORMER_LIFE : FrameOutcome.UNREADABLE);
      asking.noteAskedAt(null); // the next one is asked about for itself
    } else {
      buffer.removeFirst();
      unproven = false;
      take(next, decoded, place);
    }
  }

  /** Whether the engine, asked after the batch had come, knows nothing of it: a former life's. */
  private boolean isForeign(Place place, boolean suspect) {
    return asking.isConclusive()
        && asking.wasAskedAt(position.expected())
        && (suspect || place == Place.BEYOND && position.last() == null);
  }

  /** Whether the engine itself has sent what can not be read: no replay makes that better. */
  private boolean isPoisoned() {
    poisoned &= System.nanoTime() - poisonedUntilNs < 0;
    return poisoned;
  }

  private void drop(FrameOutcome why) {
    buffer.removeFirst();
    status.outcome(why, 1);
  }

  /** Takes a batch as this life's next one, with what is missing before it. */
  private void take(RawBatch batch, Decoded decoded, Place place) {
    KvEvent.Gap gap =
        place == Place.BEYOND ? lose(position.expected(), batch.sequence() - 1) : null;
    publisher.publish(batch, decoded, position.last(), gap, life.session());
    judge.taken(batch, decoded.sourceMicros());
    holes.taken(batch.sequence());
    position.moveTo(batch.sequence());
  }

  private KvEvent.Gap lose(long from, long to) {
    holes.lost(from);
    status.lost(to - from + 1);
    String range = Long.toUnsignedString(from) + ".." + Long.toUnsignedString(to);
    status.degraded("batches " + range + " are lost: no replay has them");
    if (warnings.allows()) {
      LOG.warn("publisher={} lost batches={}", registration.publisher(), range);
    }
    return new KvEvent.Gap(from, to);
  }
}
