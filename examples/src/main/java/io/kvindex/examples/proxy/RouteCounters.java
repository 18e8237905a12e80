// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/** What was decided so far, as Prometheus text. Thread-safe. */
final class RouteCounters {

  private final AtomicLongArray byReason = new AtomicLongArray(Reason.values().length);
  private final LongAdder promptTokens = new LongAdder();
  private final LongAdder matchedTokens = new LongAdder();
  private final LongAdder unanswered = new LongAdder();

  /**
   * @param tokens the prompt's length, 0 if unknown
   * @param matched how much of it is cached where it goes
   */
  void routed(Reason reason, int tokens, int matched) {
    byReason.incrementAndGet(reason.ordinal());
    promptTokens.add(tokens);
    matchedTokens.add(matched);
  }

  /** No engine took a request. */
  void unanswered() {
    unanswered.increment();
  }

  long count(Reason reason) {
    return byReason.get(reason.ordinal());
  }

  String text(List<Engine> engines) {
    StringBuilder text = new StringBuilder("# TYPE proxy_requests_total counter\n");
    for (Reason reason : Reason.values()) {
      line(text, "proxy_requests_total{reason=\"" + reason.text() + "\"}", count(reason));
    }
    line(text, "proxy_prompt_tokens_total", promptTokens.sum());
    line(text, "proxy_matched_tokens_total", matchedTokens.sum());
    line(text, "proxy_unanswered_total", unanswered.sum());
    for (Engine engine : engines) {
      String label = "{engine=\"" + engine.instance() + "\"}";
      line(text, "proxy_engine_requests_total" + label, engine.requests());
      line(text, "proxy_engine_refusals_total" + label, engine.refusals());
      line(text, "proxy_engine_in_flight" + label, engine.inFlight());
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String name, long value) {
    text.append(name).append(' ').append(value).append('\n');
  }
}
