// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.metrics.OncePerMinute;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.zmq.Clock;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.RawBatch;
import io.kvindex.bridge.zmq.ReplayFeed;
import io.kvindex.bridge.zmq.SubSocket;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows one publisher through one life:
 *
 * <pre>
 * CONNECTING --connected--> JOINING: live batches wait, a replay brings what Kafka does not have yet
 *                              |  replay read to its end
 *                              v
 *                           DRAINING: the waiting ones, those the replay brought too are dropped
 *                              |  none left
 *                              v
 *                           LIVE --connected again, a hole, or a failed send--> JOINING
 * </pre>
 *
 * All methods belong to the I/O thread unless they say otherwise.
 */
final class Follower implements IoLoop.Reader {

  private static final Logger LOG = LoggerFactory.getLogger(Follower.class);
  private static final int BATCHES_A_TURN = 256;
  private static final int MAX_DOUBLINGS = 5;

  private enum Phase {
    CONNECTING,
    JOINING,
    DRAINING,
    LIVE,
    STOPPED
  }

  private final Life life;
  private final FollowContext context;
  private final FollowStatus status;
  private final BatchPublisher publisher;
  private final LiveBuffer buffer;
  private final OncePerMinute warnings = new OncePerMinute();
  private final LifeJudge judge = new LifeJudge();
  private final StreamPosition position;
  private final IoLoop.Signal signal;
  private final Subscription subscription;
  private volatile boolean asksAgain;
  private volatile SendSession session;
  private Phase phase = Phase.CONNECTING;
  private @Nullable ReplayFeed feed;
  private @Nullable Long quietSince;
  private boolean tailChecked;
  private int replaysFailed;

  /** Where a hole was asked for already: if it is still there afterwards, it is for good. */
  private @Nullable Long holeAskedAt;

  /** Any thread may make one. */
  Follower(Life life, FollowContext context) {
    this.life = life;
    this.context = context;
    this.status = new FollowStatus(context.metrics(), life.degraded());
    this.publisher = new BatchPublisher(context, status, life.registration(), life.incarnation());
    this.buffer = new LiveBuffer(context.limits().bufferedBatches(), context.buffers());
    this.position = new StreamPosition(life.acked() == null ? null : life.acked().sequence());
    this.signal = context.loop().signal(this::onSignal);
    this.session = new SendSession(life.acked(), signal::raise);
    this.subscription = new Subscription(life.registration(), context, status, this, signal::raise);
  }

  /** What others may see; any thread. */
  FollowStatus status() {
    return status;
  }

  /** How far Kafka has it; any thread. */
  SendSession session() {
    return session;
  }

  /** When the oldest batch not acknowledged yet was read, 0 = all are; any thread. */
  long oldestUnackedMicros() {
    long sent = session.oldestUnackedMicros();
    return sent != 0 ? sent : buffer.oldestMicros();
  }

  /** Opens the subscription; tries again later where that is not possible now. */
  void open() {
    if (phase != Phase.STOPPED) {
      subscription.open(publisher::prepare);
    }
  }

  /** Goes on with a registration of the same generation. */
  void update(Registration changed) {
    publisher.update(changed);
  }

  /** Asks the replay once more unless live batches show before that nothing is missing. */
  private void askAgainIfQuiet(Duration delay) {
    quietSince = position.last();
    context
        .replays()
        .later(
            () -> {
              asksAgain = true;
              signal.raise();
            },
            delay);
  }

  /** Ends it; batches that still wait are counted as abandoned. */
  void stop() {
    phase = Phase.STOPPED;
    cancelReplay();
    subscription.close();
    status.outcome(FrameOutcome.ABANDONED, buffer.clear());
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
    if (session.failure() != null) {
      goBackToAcknowledged();
    } else if (subscription.takeNewConnection()) {
      // What was published while the connection was down, or before, only a replay can bring.
      holeAskedAt = null;
      tailChecked = false;
      phase = Phase.CONNECTING;
      join(Duration.ZERO);
    } else if (asksAgain) {
      asksAgain = false;
      if (phase == Phase.LIVE && Objects.equals(quietSince, position.last())) {
        join(Duration.ZERO);
      }
    }
    pump();
  }

  private void goBackToAcknowledged() {
    SendSession.Acked acked = session.acked();
    Exception cause = session.failure();
    if (warnings.allows()) {
      LOG.warn("publisher={} goes back to {}: {}", life.registration().publisher(), acked, cause);
    }
    status.problem("Kafka refused a record: " + cause);
    status.count("sends_failed", 1);
    session = new SendSession(acked, signal::raise);
    position.moveTo(acked == null ? null : acked.sequence());
    holeAskedAt = null;
    join(context.limits().retry());
  }

  private void join(Duration delay) {
    cancelReplay();
    if (phase != Phase.LIVE) {
      status.phase(PublisherState.REPLAYING);
    }
    phase = Phase.JOINING;
    String endpoint = life.registration().replayEndpoint();
    if (endpoint == null) {
      phase = Phase.DRAINING;
      return;
    }
    context.metrics().replay();
    status.count("replays", 1);
    SendSession.Acked acked = session.acked();
    feed =
        context
            .replays()
            .start(endpoint, acked == null ? null : acked.sequence(), delay, signal::raise);
  }

  private void cancelReplay() {
    if (feed != null) {
      status.discarded(feed);
      feed.cancel();
      feed = null;
    }
  }

  @Override
  public void onReadable(SubSocket source) {
    for (int i = 0; i < BATCHES_A_TURN && wantsFrames() && context.sink().hasRoom(); i++) {
      List<byte[]> frames = source.receive();
      if (frames == null || phase == Phase.STOPPED) {
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
    if (phase == Phase.JOINING && feed != null) {
      takeReplay(feed);
    }
    if (phase == Phase.DRAINING || phase == Phase.LIVE) {
      drain();
    }
  }

  private void takeReplay(ReplayFeed source) {
    status.discarded(source);
    while (context.sink().hasRoom()) {
      RawBatch batch = source.poll();
      if (batch == null) {
        break;
      }
      status.received(true, 1);
      apply(batch);
    }
    ReplayFeed.End end = source.end();
    if (end != null) {
      status.discarded(source);
      endReplay(end);
    }
  }

  private void endReplay(ReplayFeed.End end) {
    feed = null;
    phase = Phase.DRAINING;
    String problem = end.problem();
    if (problem != null) {
      status.problem(problem);
      status.count("replays_failed", 1);
      holeAskedAt = position.expected();
      replaysFailed = Math.min(replaysFailed + 1, MAX_DOUBLINGS);
      askAgainIfQuiet(context.limits().retry().multipliedBy(1L << replaysFailed));
    } else if (!tailChecked) {
      // A batch sent after the replay's end and before the subscription took effect is in neither;
      // without a next batch nothing would tell.
      tailChecked = true;
      replaysFailed = 0;
      askAgainIfQuiet(context.limits().retry());
    }
  }

  private void drain() {
    while (context.sink().hasRoom()) {
      RawBatch next = buffer.peek();
      if (next == null) {
        phase = Phase.LIVE;
        holeAskedAt = null;
        status.phase(PublisherState.ACTIVE);
        return;
      }
      if (isWorthAsking(next)) {
        context.metrics().gapFound();
        status.count("gaps_found", 1);
        holeAskedAt = position.expected();
        join(Duration.ZERO);
        return;
      }
      buffer.removeFirst();
      apply(next);
    }
  }

  private boolean isWorthAsking(RawBatch next) {
    return position.place(next.sequence()) == StreamPosition.Place.BEYOND
        && life.registration().replayEndpoint() != null
        && (holeAskedAt == null || holeAskedAt != position.expected());
  }

  private void apply(RawBatch batch) {
    Long last = position.last();
    long expected = position.expected();
    switch (position.place(batch.sequence())) {
      case BEHIND:
        judge.judge(batch, expected - 1);
        status.outcome(FrameOutcome.DUPLICATE_OR_LATE, 1);
        return;
      case NEXT:
        if (holeAskedAt != null && holeAskedAt == expected) {
          context.metrics().gapFilled();
          status.count("gaps_filled", 1);
          holeAskedAt = null;
        }
        publisher.publish(batch, last, null, session);
        break;
      case BEYOND:
        publisher.publish(batch, last, lose(expected, batch.sequence() - 1), session);
        break;
    }
    position.moveTo(batch.sequence());
  }

  private KvEvent.Gap lose(long from, long to) {
    status.lost(to - from + 1);
    String range = Long.toUnsignedString(from) + ".." + Long.toUnsignedString(to);
    status.degraded("batches " + range + " are lost: no replay has them");
    if (warnings.allows()) {
      LOG.warn("publisher={} lost batches={}", life.registration().publisher(), range);
    }
    return new KvEvent.Gap(from, to);
  }
}
