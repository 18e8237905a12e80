// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.remote.Race.Answer;
import io.kvindex.query.remote.ReplicaClient.RefusedException;
import io.kvindex.streams.index.OwnerView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Puts questions to the replicas that hold a partition. Thread-safe; the thread that asks waits.
 */
final class Forwarding {
  /** Threads of the server that may wait for others at a time: the rest goes on answering. */
  private static final int AT_ONCE = 24;

  private static final int MOST_LISTS = 1_024;

  private final Semaphore waiting = new Semaphore(AT_ONCE);
  private final Transport transport;
  private final FailureDetector detector;

  /**
   * The owner list each replica sent last of each table, so that it need not send it again. Keeping
   * the object matters as well: what owners mean to an answer is worked out once for each.
   */
  private final Map<ListKey, OwnerView> lists = new ConcurrentHashMap<>();

  private final Timer answered;
  private final Counter unanswered;
  private final Counter hedged;
  private final Counter crowded;

  private record ListKey(String address, TableId table) {}

  /**
   * @param detector told who is asked and who answers
   */
  Forwarding(Transport transport, FailureDetector detector, MeterRegistry registry) {
    this.transport = transport;
    this.detector = detector;
    answered =
        Timer.builder("kvindex.forward.time")
            .description("time until another replica answered")
            .publishPercentiles(0.5, 0.99)
            .register(registry);
    unanswered =
        Counter.builder("kvindex.forward.unanswered")
            .description("questions none of the replicas that hold a partition answered in time")
            .register(registry);
    hedged =
        Counter.builder("kvindex.forward.hedged")
            .description(
                "questions put to another replica because the first one failed or was late")
            .register(registry);
    crowded =
        Counter.builder("kvindex.forward.crowded")
            .description("questions not put to other replicas as too many waited for them already")
            .register(registry);
  }

  /**
   * Has a prompt walked.
   *
   * @param spare whether there is another answer, if not as good
   * @return null if nobody answered in time, or too many wait and there is a spare answer
   * @throws ApiException (429) if too many wait
   */
  @Nullable WalkAnswer walk(
      Race<WalkAnswer> race, WalkRequest request, Deadline deadline, boolean spare) {
    return run(
        race,
        spare,
        (address, forNanos, answer) -> {
          ListKey key = new ListKey(address, request.table());
          OwnerView known = lists.get(key);
          byte[] bytes = request.encode(known == null ? WalkRequest.NO_OWNERS : known.id());
          ask(
              address,
              ReplicaService.WALK,
              bytes,
              forNanos,
              from -> {
                WalkAnswer read = WalkAnswer.decode(from, known);
                if (read.owners() != known) {
                  if (lists.size() >= MOST_LISTS) { // replicas come and go, and so do tables
                    lists.clear();
                  }
                  lists.put(key, read.owners());
                }
                return read;
              },
              answer);
        },
        deadline,
        WalkAnswer::told);
  }

  /**
   * Has names looked up.
   *
   * @param spare as for a walk
   */
  @Nullable TableNames names(
      Race<TableNames> race, NamesRequest request, Deadline deadline, boolean spare) {
    byte[] bytes = request.encode();
    return run(
        race,
        spare,
        (address, forNanos, answer) ->
            ask(address, ReplicaService.NAMES, bytes, forNanos, TableNames::decode, answer),
        deadline,
        TableNames::told);
  }

  private <A> void ask(
      String address,
      String path,
      byte[] bytes,
      long forNanos,
      Function<byte[], A> decoder,
      Answer<A> answer) {
    detector.asked(address);
    transport.ask(
        address,
        path,
        bytes,
        forNanos,
        (body, problem) -> {
          if (body != null || problem instanceof RefusedException) {
            detector.answered(address);
          }
          tell(body, problem, decoder, answer);
        });
  }

  private static <A> void tell(
      byte @Nullable [] body,
      @Nullable Throwable problem,
      Function<byte[], A> decoder,
      Answer<A> answer) {
    if (body == null) {
      answer.told(null, problem);
      return;
    }
    try {
      answer.told(decoder.apply(body), null);
    } catch (RuntimeException e) { // of another version, or damaged
      answer.told(null, e);
    }
  }

  private <A> @Nullable A run(
      Race<A> race,
      boolean spare,
      Race.Question<A> question,
      Deadline deadline,
      Function<A, Told> told) {
    if (!waiting.tryAcquire()) {
      crowded.increment(); // what is here is told, or nothing
      if (spare) {
        return null;
      }
      throw ErrorCode.TOO_MANY_REQUESTS.because(
          "more than " + AT_ONCE + " queries wait for other replicas; try again shortly");
    }
    long start = System.nanoTime();
    try {
      A answer =
          race.run(
              question,
              deadline.leftNanos(),
              one -> told.apply(one).trust() == Trust.EXACT,
              Comparator.comparing(told, Told.FRESHEST_FIRST));
      hedged.increment(Math.max(0, race.asked() - 1)); // nobody is asked where no time is left
      if (answer == null) {
        unanswered.increment();
      } else {
        answered.record(System.nanoTime() - start, TimeUnit.NANOSECONDS);
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server is being closed
      return null;
    } finally {
      waiting.release();
    }
  }
}
