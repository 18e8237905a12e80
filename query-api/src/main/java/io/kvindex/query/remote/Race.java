// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.MalformedRecordException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One question to the replicas that hold a partition: the best one first, the next one as soon as
 * one fails or is late, two at a time, until one gives a good answer. One that is silent for
 * whoever asks it does not count as one of the two: however many stand still, they hide nobody who
 * answers. For one question; the thread that asks waits.
 *
 * @param <A> an answer
 */
final class Race<A> {
  /** Longest wait for all of them, where there is no answer but theirs. */
  static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** The same once there is an answer, if not a good one: from here or from another replica. */
  static final long BESIDE_OWN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** One that takes longer is late: nearly all answers come within a millisecond. */
  static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * Answers that are waited for at a time, beside those of the silent: more questions would not
   * make a busy site faster.
   */
  private static final int AT_ONCE = 2;

  /** How each of them is asked. */
  interface Question<A> {

    /**
     * @param forNanos how long the answer is of use
     * @param answer told once, by any thread
     */
    void ask(String address, long forNanos, Answer<A> answer);
  }

  /** Takes one replica's answer. */
  interface Answer<A> {

    /**
     * @param value null = it gave none
     * @param problem why not
     */
    void told(@Nullable A value, @Nullable Throwable problem);
  }

  private record Outcome<A>(String address, @Nullable A value, @Nullable Throwable problem) {}

  private final List<String> addresses;
  private final Predicate<String> silent;
  private final long longestNanos;
  private final Set<String> awaited = new HashSet<>();
  private final BlockingQueue<Outcome<A>> outcomes;
  private final StringBuilder problems = new StringBuilder();
  private @Nullable String winner;
  private int asked;

  /**
   * @param addresses best first, not empty
   * @param silent who has not answered for a while: nobody waits for them who has an answer, or
   *     somebody else to ask
   * @param longestNanos longest wait for all of them
   */
  Race(List<String> addresses, Predicate<String> silent, long longestNanos) {
    this.addresses = addresses;
    this.silent = silent;
    this.longestNanos = longestNanos;
    outcomes = new ArrayBlockingQueue<>(addresses.size());
  }

  /**
   * Asks and waits.
   *
   * @param forNanos longest wait
   * @param good whether an answer is as good as any other replica's could be
   * @param better orders those that are not, the best first
   * @return the best answer; null = nobody gave one in time
   */
  @Nullable A run(Question<A> question, long forNanos, Predicate<A> good, Comparator<A> better)
      throws InterruptedException {
    long end = System.nanoTime() + Math.min(forNanos, longestNanos);
    A fallback = null;
    while (!awaited.isEmpty() || asked < addresses.size()) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        break;
      }
      if (mayAskMore()) {
        ask(question, addresses.get(asked++), left);
      }
      // Those that are waited for may turn out to be silent.
      long wait = asked < addresses.size() ? Math.min(LATE_NANOS, left) : left;
      Outcome<A> outcome = outcomes.poll(wait, TimeUnit.NANOSECONDS);
      if (outcome == null) {
        continue;
      }
      awaited.remove(outcome.address());
      A value = outcome.value();
      if (value == null) {
        problems.append(problems.isEmpty() ? "" : "; ").append(outcome.address()).append(": ");
        problems.append(outcome.problem());
        continue;
      }
      boolean done = good.test(value);
      if (done || fallback == null || better.compare(value, fallback) < 0) {
        fallback = value;
        winner = outcome.address();
      }
      if (done || onlyTheSilentAreLeft()) {
        return fallback;
      }
      end = Math.min(end, System.nanoTime() + BESIDE_OWN_NANOS);
    }
    return fallback;
  }

  private boolean mayAskMore() {
    return asked < addresses.size() && awaited.stream().filter(silent.negate()).count() < AT_ONCE;
  }

  private boolean onlyTheSilentAreLeft() {
    return awaited.stream().allMatch(silent)
        && addresses.subList(asked, addresses.size()).stream().allMatch(silent);
  }

  private void ask(Question<A> question, String address, long forNanos) {
    awaited.add(address);
    try {
      question.ask(
          address,
          forNanos,
          (value, problem) -> outcomes.add(new Outcome<>(address, value, problem)));
    } catch (MalformedRecordException e) {
      outcomes.add(new Outcome<>(address, null, e));
    }
  }

  /** Who gave the answer, null = nobody. */
  @Nullable String winner() {
    return winner;
  }

  /** How many were asked. */
  int asked() {
    return asked;
  }

  /** What those said who gave no answer, for people; empty = they were silent. */
  String problems() {
    return problems.isEmpty() ? "no answer in time" : problems.toString();
  }
}
