// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.produce.BatchMark;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Clock;
import io.kvindex.model.Incarnation;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.BatchTrace;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.registration.Registration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TraceTest extends FollowerFixture {

  /** The headers of ten batches. */
  private List<Headers> sentByOneThatTraces(int oneIn) throws Exception {
    EventSink sink = new EventSink(producer, 4, true, budget, metrics);
    FollowLimits limits = FollowLimits.DEFAULT.withTraceOneIn(oneIn);
    Life life =
        new Life(
            Site.engine("e", engine.endpoint(), engine.replayEndpoint()),
            new Incarnation(3, 7, 0),
            null,
            false,
            false);
    engine.publish(0, 9);
    new Followers(loops, replays, sink, metrics, limits)
        .start(life, (claim, done) -> done.done(++lives, null));
    await().atMost(SOON).until(() -> producer.history().size() == 10);
    return producer.history().stream().map(record -> record.headers()).toList();
  }

  private static @Nullable BatchTrace traceOf(Headers headers) {
    return BatchTrace.of(headers);
  }

  private long count(String stage) {
    return registry.get("kvindex.stage").tag("stage", stage).timer().count();
  }

  @Test
  void shouldTraceTheFirstBatchAndOneInFour_whenToldSo() throws Exception {
    long before = Clock.micros();
    List<Headers> sent = sentByOneThatTraces(4);
    for (int i = 0; i < sent.size(); i++) {
      assertThat(traceOf(sent.get(i)) != null).as("batch %d", i).isEqualTo(i % 4 == 0);
      assertThat(BatchMark.of(sent.get(i)).fingerprint()).isNotZero();
    }
    BatchTrace trace = Objects.requireNonNull(traceOf(sent.get(8)));
    assertThat(trace.readMicros()).isBetween(before, trace.decodedMicros());
    assertThat(trace.producedMicros()).isBetween(trace.decodedMicros(), Clock.micros());
    assertThat(count("decode")).isEqualTo(3);
    assertThat(count("produce")).isEqualTo(3);
    assertThat(count("acknowledge")).isZero();
    while (producer.completeNext()) {}
    assertThat(count("acknowledge")).isEqualTo(3);
  }

  @Test
  void shouldTraceNone_whenToldSo() throws Exception {
    List<Headers> sent = sentByOneThatTraces(0);
    assertThat(sent).allMatch(headers -> traceOf(headers) == null);
    while (producer.completeNext()) {}
    assertThat(Stream.of("decode", "produce", "acknowledge").mapToLong(this::count).sum()).isZero();
  }

  @Test
  void shouldTraceTheLastRecordAlone_whenABatchTakesSeveral() {
    EventSink sink = new EventSink(producer, 4, true, budget, metrics);
    SendSession session = new SendSession(null, -1, Map.of(), () -> {});
    List<EventRecord> parts = List.of(part(), part(), part());
    sink.send(session, parts, Map.of(), Clock.micros(), 0, new BatchMark(1, null), true);
    assertThat(producer.history())
        .extracting(record -> traceOf(record.headers()) != null)
        .containsExactly(false, false, true);
    producer.completeNext();
    producer.completeNext();
    assertThat(count("acknowledge")).isZero();
    producer.completeNext();
    assertThat(count("acknowledge")).isOne();
  }

  private EventRecord part() {
    Registration registration = Site.engine("e", engine.endpoint(), null);
    return EventRecord.opening(
        registration.table(),
        StreamId.of(registration.publisher()),
        registration.type(),
        registration.options().traits(false),
        new Incarnation(3, 7, 0),
        false);
  }
}
