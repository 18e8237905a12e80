// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.log.OncePerMinute;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * Asks replay endpoints and waits for their answers to begin, all on one thread: however many of
 * them are silent, those that do answer wait for none of them. Who reads an answer, others decide.
 */
final class Questions implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Questions.class);
  private static final OncePerMinute ERRORS = new OncePerMinute();

  /**
   * Endpoints that did not answer last time and are being asked at the same time: each question
   * costs a handful of file descriptors.
   */
  private static final int MOST_DOUBTED = 64;

  private static final long ASKING_MS = 50;

  /** While it is open whether a connection comes about at all. */
  private static final long CONNECTING_MS = 20;

  private static final long IDLE_MS = 1_000;

  private final ZMQ.Context context;
  private final Replays replays;
  private final WakeUp wake = new WakeUp();
  private final ZMQ.Poller poller;
  private final Thread thread;
  // Both bounded by the publishers: each has one question at a time.
  private final Queue<ReplayJob> asked = new ConcurrentLinkedQueue<>();
  private final Queue<ReplayJob> doubted = new ArrayDeque<>();
  private final List<Question> open = new ArrayList<>();
  private volatile boolean running = true;

  /**
   * Starts the thread.
   *
   * @param replays told, by that thread, how each question went
   */
  Questions(ZMQ.Context context, Replays replays) {
    this.context = context;
    this.replays = replays;
    poller = context.poller(64);
    poller.register(wake.channel(), ZMQ.Poller.POLLIN);
    thread = new Thread(this::run, "zmq-ask");
    thread.setDaemon(true);
    thread.start();
  }

  /** Makes the next attempt of a job that knows its addresses; any thread. */
  void ask(ReplayJob job) {
    asked.add(job);
    wake.raise();
  }

  private void run() {
    while (running) {
      try {
        turn();
      } catch (RuntimeException e) {
        if (ERRORS.allows()) {
          LOG.error("BUG: asking for replays goes on after an exception", e);
        }
      }
    }
    open.forEach(Question::close);
    poller.close();
  }

  private void turn() {
    wake.clear();
    for (ReplayJob job = asked.poll(); job != null; job = asked.poll()) {
      if (job.isDoubted()) {
        doubted.add(job);
      } else {
        begin(job);
      }
    }
    long free = MOST_DOUBTED - open.stream().filter(one -> one.job().isDoubted()).count();
    while (free-- > 0 && !doubted.isEmpty()) {
      begin(doubted.remove());
    }
    poller.poll(longestWait());
    look();
  }

  private long longestWait() {
    if (open.isEmpty()) {
      return IDLE_MS;
    }
    return open.stream().anyMatch(Question::isYoung) ? CONNECTING_MS : ASKING_MS;
  }

  private void begin(ReplayJob job) {
    if (job.isCancelled()) {
      return;
    }
    try {
      open.add(new Question(job, context, poller));
    } catch (RuntimeException e) {
      replays.unanswered(job, e.toString());
    }
  }

  private void look() {
    long now = System.nanoTime();
    for (Iterator<Question> it = open.iterator(); it.hasNext(); ) {
      Question question = it.next();
      ReplayJob job = question.job();
      ReplayAttempt answered = question.answered();
      if (answered != null) {
        it.remove();
        replays.answered(job, answered);
      } else if (question.isOver(now)) {
        it.remove();
        question.close();
        if (!job.isCancelled()) {
          replays.unanswered(job, null);
        }
      } else {
        question.askAgain(context, now);
      }
    }
  }

  /** Ends the thread and closes its sockets. */
  @Override
  public void close() throws InterruptedException {
    running = false;
    wake.raise();
    thread.join(TimeUnit.SECONDS.toMillis(5));
    wake.close();
  }
}
