// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.ReplayFeed;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Follows one publisher through its lives, from {@link Phase} to phase. All methods belong to the
 * loop's thread unless they say otherwise.
 */
final class Follower implements IoLoop.Reader {

  /** Batches of a replay taken before it is others' turn: there are thousands in a long one. */
  private static final int TURN = 32;

  private final Registration registration;
  private final Followers site;
  private final IoLoop loop;
  private final FollowStatus status;
  private final BatchPublisher publisher;
  private final LiveBuffer buffer;
  private final LiveFrames frames;
  private final Intake intake;
  private final IoLoop.Signal signal;
  private final Subscription subscription;
  private final CurrentLife life;
  private final Succession succession;
  private final Asking asking;
  private final Recovery recovery;
  private final Doubts doubts;
  private final Reception reception;
  private Phase phase = Phase.CONNECTING;

  /** The connection whose other end was looked at. */
  private int connection;

  /** Any thread may make one. */
  Follower(Life start, Followers site, IoLoop loop, LifeClaims claims) {
    this.registration = start.registration();
    this.site = site;
    this.loop = loop;
    this.signal = loop.signal(this::onSignal);
    this.life =
        new CurrentLife(
            start, claims, () -> site.sink.ends().of(registration.table()), signal::raise);
    this.status = new FollowStatus(registration.publisher(), site, life, start.degraded());
    this.publisher = new BatchPublisher(site, status, life, start);
    this.buffer = new LiveBuffer(site.limits.bufferedBatches(), site.buffers);
    this.frames = new LiveFrames(registration, status);
    this.intake = new Intake(registration, publisher, status, start.acked());
    this.asking =
        new Asking(registration.replayEndpoint(), site, status, this::later, signal::raise);
    this.recovery =
        new Recovery(registration.replayEndpoint(), site, status, this::later, signal::raise);
    this.doubts = new Doubts(start.acked() == null ? null : start.acked().sequence());
    this.reception = new Reception(intake, asking, doubts, buffer, status, site.limits.gaps());
    this.succession =
        new Succession(
            registration.publisher(),
            life,
            publisher,
            status,
            this::later,
            site.limits.retry(),
            start.opens(),
            this::onNewLife);
    this.subscription =
        new Subscription(registration, site, loop, status, this, this::later, signal::raise);
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
      succession.begin();
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
    recovery.cancel();
    subscription.close();
    status.connected(false);
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

  /** Any thread. */
  private void later(Runnable step, Duration pause) {
    loop.later(
        () -> {
          if (phase != Phase.STOPPED) {
            step.run();
            onSignal();
          }
        },
        pause);
  }

  private void onSignal() {
    if (phase == Phase.STOPPED) {
      return;
    }
    if (phase == Phase.ADOPTED && succession.mayPublish() && succession.takeStart()) {
      join(Duration.ZERO);
      signal.raise(); // for a connection that came meanwhile
    } else if (!phase.isBetweenLives()) {
      keepUp();
    }
    pump();
    if (phase == Phase.LIVE && asking.takeQuiet(intake.last())) {
      join(Duration.ZERO);
      asking.noteIdle();
    }
  }

  private void keepUp() {
    if (life.hasFailed()) {
      goBackToAcknowledged();
    } else if (succession.mayPublish()) {
      int number = status.connections(); // first, so that it is none behind the one that is taken
      if (subscription.takeNewConnection()) {
        connection = number;
        onConnected();
      }
    }
  }

  /** What was published while the connection was down, or before, only a replay can bring. */
  private void onConnected() {
    asking.noteAskedAt(null);
    doubts.connected(intake.last() != null);
    if (!doubts.isUnproven()) {
      status.proven(connection, null); // nothing was told that another engine may have told
    }
    phase = Phase.CONNECTING;
    join(Duration.ZERO);
  }

  private void goBackToAcknowledged() {
    if (!intake.goBack(life)) {
      tellAgain("Kafka refused its first batches", intake.last());
      return;
    }
    asking.noteAskedAt(null);
    join(site.limits.retry());
  }

  /** Another bridge claimed that life: what is sent under an earlier one counts no more. */
  void contest(long claimed) {
    if (succession.isOvertakenBy(claimed) && phase != Phase.STOPPED && phase != Phase.CLAIMING) {
      status.count("lives_contested", 1);
      tellAgain("another bridge has claimed life " + claimed, intake.last());
    }
  }

  /** The engine is not the one that sent what came before: nothing of that counts any more. */
  private void endLife(String evidence) {
    life.leaveEngine();
    claimNext(evidence);
  }

  /**
   * The engine is the same one, and what it holds has to be told from the beginning.
   *
   * @param until the last batch of that, null = nothing was told yet
   */
  private void tellAgain(String evidence, @Nullable Long until) {
    life.tellAgain(until);
    claimNext(evidence);
  }

  private void claimNext(String evidence) {
    asking.cancel();
    phase = Phase.CLAIMING;
    status.phase(PublisherState.REPLAYING);
    succession.claimNext(evidence);
  }

  private void onNewLife() {
    intake.begin();
    status.newLife();
    recovery.newLife();
    doubts.newLife();
    asking.newLife();
    phase = Phase.ADOPTED;
    succession.start();
  }

  private void join(Duration delay) {
    asking.cancel();
    recovery.interrupt(); // nobody would read on, and it holds up those that ask in doubt
    if (phase != Phase.LIVE) {
      status.phase(PublisherState.REPLAYING);
    }
    if (!asking.isPossible()) {
      phase = Phase.DRAINING;
      return;
    }
    phase = Phase.JOINING;
    reception.ask(life.session().acked(), delay);
  }

  @Override
  public void onMessage(List<byte[]> message) {
    RawBatch batch = frames.read(message);
    if (batch == null) {
      return;
    }
    publisher.heard(batch);
    buffer.add(batch);
    if (phase == Phase.JOINING && asking.isIdle() && reception.isPlainlyNext()) {
      asking.cancel();
      phase = Phase.LIVE;
    }
    if (phase.takesLive()) {
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
    if (phase.takesLive()) {
      drain();
    }
  }

  private boolean mayPublish() {
    return loop.hasRoom() && !life.hasFailed() && succession.mayPublish();
  }

  private void takeReplay() {
    for (int taken = 0; phase == Phase.JOINING && mayPublish(); taken++) {
      if (taken == TURN) {
        signal.raise();
        return;
      }
      RawBatch batch = asking.poll();
      if (batch == null) {
        break;
      }
      act(reception.replayed(batch));
    }
    ReplayFeed.End end = phase == Phase.JOINING ? asking.takeEnd() : null;
    if (end != null) {
      phase = Phase.DRAINING;
      boolean complete = end.problem() == null;
      act(
          complete && life.isCutShortAt(intake.last())
              ? new Decision.EndLife("its replay ends before what it had told")
              : reception.replayEnded(complete));
    }
  }

  private void drain() {
    while (phase.takesLive() && mayPublish()) {
      RawBatch next = buffer.peek();
      if (next == null) {
        phase = Phase.LIVE;
        asking.noteAskedAt(null);
        status.phase(PublisherState.ACTIVE);
        if (!doubts.isUnproven()) {
          status.proven(connection, intake.last());
        }
        reception.upToDate();
        Long all = recovery.look(intake);
        if (all != null) {
          tellAgain("its replay has everything again", all);
        }
        return;
      }
      act(reception.live(next));
    }
  }

  private void act(Decision decision) {
    if (decision instanceof Decision.Ask ask) {
      join(ask.delay());
    } else if (decision instanceof Decision.AskIfQuiet) {
      asking.waitForNext(intake.last());
    } else if (decision instanceof Decision.EndLife end) {
      endLife(end.evidence());
    }
  }
}
