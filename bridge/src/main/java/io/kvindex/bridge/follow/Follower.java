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
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * any of the last three --the engine is another one--> CLAIMING --claim is durable--> ADOPTED --> JOINING from 0
 * </pre>
 *
 * All methods belong to the I/O thread unless they say otherwise.
 */
final class Follower implements IoLoop.Reader {

  private static final Logger LOG = LoggerFactory.getLogger(Follower.class);

  private static final int MOST_STRANGERS = 16;

  private enum Phase {
    CONNECTING,
    JOINING,
    DRAINING,
    LIVE,
    CLAIMING,
    ADOPTED,
    STOPPED
  }

  private final Registration registration;
  private final FollowContext context;
  private final FollowStatus status;
  private final BatchPublisher publisher;
  private final LiveBuffer buffer;
  private final OncePerMinute warnings = new OncePerMinute();
  private final TopicGuard topics;
  private final Intake intake;
  private final IoLoop.Signal signal;
  private final Subscription subscription;
  private final CurrentLife life;
  private final Succession succession;
  private final Asking asking;
  private volatile boolean asksAgain;
  private volatile boolean joins;
  private Phase phase = Phase.CONNECTING;
  private @Nullable Long quietSince;
  private boolean tailChecked;

  /** Batches that were taken for a former life's by the word of an empty replay. */
  private int strangers;

  /** Whether the engine has yet to show that it is still the one that sent the last batch. */
  private boolean unproven;

  /** Any thread may make one. */
  Follower(Life start, FollowContext context, LifeClaims claims) {
    this.registration = start.registration();
    this.context = context;
    this.status = new FollowStatus(context.metrics(), start.degraded());
    this.publisher = new BatchPublisher(context, status, start);
    this.buffer = new LiveBuffer(context.limits().bufferedBatches(), context.buffers());
    this.topics = new TopicGuard(registration);
    this.intake = new Intake(registration, publisher, status, start.acked());
    this.signal = context.loop().signal(this::onSignal);
    this.life = new CurrentLife(start, claims, signal::raise);
    this.asking = new Asking(registration.replayEndpoint(), context, status, signal::raise);
    this.succession =
        new Succession(
            registration.publisher(),
            life,
            publisher,
            status,
            step -> later(step, asking.pause()),
            start.opens());
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
      succession.announceIfDue();
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
    intake.end();
  }

  @Override
  public boolean wantsMessages() {
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
    succession.announceIfDue();
    if (phase == Phase.CLAIMING) {
      onClaimAnswered();
    } else if (phase == Phase.ADOPTED) {
      joinIfDue();
    } else if (life.session().failure() != null) {
      goBackToAcknowledged();
    } else if (subscription.takeNewConnection()) {
      onConnected();
    }
    pump();
    if (asksAgain && phase == Phase.LIVE) {
      asksAgain = false;
      if (Objects.equals(quietSince, intake.last())) {
        join(Duration.ZERO);
      }
    }
  }

  /** What was published while the connection was down, or before, only a replay can bring. */
  private void onConnected() {
    asking.noteAskedAt(null);
    tailChecked = false;
    unproven = intake.last() != null;
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
    if (acked == null && intake.last() != null) {
      // Some of them may be in the log all the same, and nothing is known that could tell whose.
      endLife("Kafka refused its first batches");
      return;
    }
    life.goBack();
    intake.goBackTo(acked);
    asking.noteAskedAt(null);
    join(context.limits().retry());
  }

  /** Another bridge claimed that life: what is sent under an earlier one counts no more. */
  void contest(long claimed) {
    if (succession.isOvertakenBy(claimed) && phase != Phase.STOPPED && phase != Phase.CLAIMING) {
      status.count("lives_contested", 1);
      endLife("another bridge has claimed life " + claimed);
    }
  }

  /** The engine is not the one that sent what came before: nothing of that counts any more. */
  private void endLife(String evidence) {
    asking.cancel();
    phase = Phase.CLAIMING;
    status.phase(PublisherState.REPLAYING);
    succession.claimNext(evidence);
  }

  private void onClaimAnswered() {
    if (!succession.isAdopted()) {
      return;
    }
    intake.begin();
    status.newLife();
    unproven = false;
    tailChecked = false;
    asking.noteAskedAt(null);
    phase = Phase.ADOPTED;
    joins = true;
    Duration pause = succession.pause();
    if (pause.isZero()) {
      joinIfDue();
    } else {
      joins = false;
      later(() -> joins = true, pause);
    }
  }

  private void joinIfDue() {
    if (joins) {
      joins = false;
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
    asking.noteAskedAt(intake.expected());
    join(Duration.ZERO);
  }

  /** Asks the replay once more unless live batches show before that nothing is missing. */
  private void askAgainIfQuiet() {
    quietSince = intake.last();
    later(() -> asksAgain = true, asking.pause());
  }

  private void later(Runnable step, Duration pause) {
    context
        .replays()
        .later(
            () -> {
              step.run();
              signal.raise();
            },
            pause);
  }

  @Override
  public void onMessage(List<byte[]> frames) {
    status.received(false, 1);
    Frame frame = Frames.live(frames);
    if (!(frame instanceof Frame.Batch)) {
      status.outcome(FrameOutcome.MALFORMED, 1);
      status.problem("a live message is no batch: " + frame);
      return;
    }
    Frame.Batch batch = (Frame.Batch) frame;
    if (!topics.admits(batch.topic())) {
      status.outcome(FrameOutcome.OTHER_TOPIC, 1);
      status.ambiguous(topics.problem(batch.topic()));
      return;
    }
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

  /** Behind a failed send nothing may follow: it would be taken for the next one. */
  private boolean mayPublish() {
    return context.sink().hasRoom() && life.session().failure() == null;
  }

  private void takeReplay() {
    while (phase == Phase.JOINING && mayPublish()) {
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
    Place place = intake.place(batch);
    if (place == Place.BEHIND) {
      LifeJudge.Verdict verdict = intake.ofReplayed(batch);
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
      intake.takeReplayed(batch, life.session());
    }
  }

  private void endReplay(boolean complete) {
    phase = Phase.DRAINING;
    if (!complete) {
      asking.noteAskedAt(intake.expected());
      askAgainIfQuiet();
    } else if (unproven || intake.last() != null && asking.hasForgottenAll()) {
      endLife("its replay has nothing of the one before");
    } else if (!tailChecked) {
      // A batch sent after the replay's end and before the subscription took effect is in neither;
      // without a next batch nothing would tell.
      tailChecked = true;
      askAgainIfQuiet();
    }
  }

  private void drain() {
    while ((phase == Phase.DRAINING || phase == Phase.LIVE) && mayPublish()) {
      RawBatch next = buffer.peek();
      if (next == null) {
        phase = Phase.LIVE;
        asking.noteAskedAt(null);
        status.phase(PublisherState.ACTIVE);
        return;
      }
      Place place = intake.place(next);
      if (place == Place.BEHIND) {
        judgeBehind(next);
      } else {
        takeLive(next, place);
      }
    }
  }

  /** Leaves it in the buffer where something has to be found out first. */
  private void judgeBehind(RawBatch next) {
    switch (intake.ofLive(next)) {
      case SAME, LATE -> {
        if (Protection.DEDUPE.isOff()) {
          intake.takeAgain(next, life.session());
        }
        drop(FrameOutcome.DUPLICATE_OR_LATE);
      }
      case NEW_LIFE ->
          endLife("batch " + Long.toUnsignedString(next.sequence()) + " came again, later");
      case UNKNOWN -> {
        if (!intake.isReadable(next)) {
          drop(FrameOutcome.UNREADABLE);
        } else if (asking.isWorthwhile(intake.expected())) {
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
    Decoded decoded = intake.decode(next);
    boolean suspect = intake.isSuspect(decoded);
    boolean doubtful = place == Place.BEYOND || suspect;
    if (doubtful && asking.isWorthwhile(intake.expected())) {
      if (place == Place.BEYOND) {
        intake.noteHole();
      }
      ask();
    } else if (place == Place.BEYOND && asking.deservesPatience() && buffer.isRoomy()) {
      intake.noteHole();
      join(asking.pause());
    } else if (place == Place.BEYOND && unproven) {
      endLife("it goes on at batch " + Long.toUnsignedString(next.sequence()));
    } else if (isForeign(place, suspect)) {
      drop(decoded.rejected() == null ? FrameOutcome.FORMER_LIFE : FrameOutcome.UNREADABLE);
      asking.noteAskedAt(null); // the next one is asked about for itself
    } else {
      buffer.removeFirst();
      unproven = false;
      strangers = 0;
      intake.take(next, decoded, life.session());
    }
  }

  /** Whether the engine, asked after the batch had come, knows nothing of it: a former life's. */
  private boolean isForeign(Place place, boolean suspect) {
    boolean unknown = suspect || place == Place.BEYOND && intake.last() == null;
    if (!unknown || !asking.wasAskedAt(intake.expected())) {
      return false;
    }
    // One that has never brought anything may have no buffer at all: then it can not testify for
    // long, or its engine would never be followed.
    return asking.isConclusive() || asking.isComplete() && ++strangers <= MOST_STRANGERS;
  }

  private void drop(FrameOutcome outcome) {
    buffer.removeFirst();
    status.outcome(outcome, 1);
  }
}
