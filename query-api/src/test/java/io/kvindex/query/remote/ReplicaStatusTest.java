// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.query.remote.ReplicaStatus.Detail;
import io.kvindex.query.remote.ReplicaStatus.Part;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.PartitionProgress;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaStatusTest {

  @Test
  void shouldBeTheSame_whenItWentOverTheWire() {
    PublisherId one = new PublisherId("e|1", "t", 3);
    PublisherId other = new PublisherId("quiet", "t", 0);
    StreamPosition position =
        new StreamPosition(
            new Incarnation(4, 5, 6), new Position(-2, 1, false), 99, 12, 13, 7, true);
    StreamPosition nothing = new StreamPosition(Incarnation.NONE, null, -1, 0, 0, 0, false);
    ReplicaStatus status =
        new ReplicaStatus(
            "index-1",
            "0.1.0",
            "partition 1 is loading",
            List.of(
                new Part(0, new PartitionProgress(Phase.READY, 0, 0, 0), 0, 4_000_000_000L, 0),
                new Part(
                    1, new PartitionProgress(Phase.LOADING, 5, 10, 3), 17, -1, 5_000_000_000L)),
            Map.of(
                0,
                new Detail(Map.of(one, position, other, nothing), Map.of(one, Map.of("GPU", 5L)))));
    assertThat(wired(status)).isEqualTo(status);
    ReplicaStatus ready = new ReplicaStatus("", "", null, List.of(), Map.of());
    assertThat(wired(ready)).isEqualTo(ready);
  }

  /** While replicas are upgraded one after the other. */
  @Test
  void shouldPassOverWhatLaterVersionsAdd() {
    Part part = new Part(0, new PartitionProgress(Phase.READY, 0, 0, 0), 0, 7, 0);
    ReplicaStatus status = new ReplicaStatus("a", "v", null, List.of(part), Map.of());
    String now = new String(PlainMessage.encode(status), StandardCharsets.UTF_8);
    String later = now.replaceAll("\\{\"(copy|partition)\"", "{\"more\":[7],\"$1\"");
    assertThat(later).hasSize(now.length() + 2 * "\"more\":[7],".length());
    assertThat(decoded(later)).isEqualTo(status);
    assertThat(decoded(later.replace("READY", "NEWER")).partitions())
        .extracting(one -> one.progress().phase())
        .containsExactly(Phase.CATCHING_UP);
    assertThatThrownBy(() -> decoded("\u0001"))
        .isInstanceOf(MalformedRecordException.class)
        .hasMessageContaining("version 1");
    assertThatThrownBy(() -> decoded(now.replace("copy", "cope")))
        .isInstanceOf(MalformedRecordException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          "appliedOffset":7|"appliedOffset":7.5
          "appliedOffset":7|"appliedOffset":"7"
          "appliedOffset":7|"appliedOffset":null
          "partition":0|"partition":false
          "recordsBehind":0|"recordsBehind":""
          "copy":"a"|"copy":1
          "copy":"a"|"copy":null
          "READY"|1
          "details":{|"details":null,"more":{
          "details":{|"details":{"1":null,
          "positions":{}|"positions":null
          "GPU":5|"GPU":null
          "GPU":5|"GPU":0.5
          {"copy"|{} {"copy"
          """)
  void shouldRefuseAStatus_whenAValueHasAnotherType(String from, String to) {
    Part part = new Part(0, new PartitionProgress(Phase.READY, 0, 0, 0), 0, 7, 0);
    Detail detail = new Detail(Map.of(), Map.of(new PublisherId("e", "t", 0), Map.of("GPU", 5L)));
    ReplicaStatus status = new ReplicaStatus("a", "v", null, List.of(part), Map.of(0, detail));
    String now = new String(PlainMessage.encode(status), StandardCharsets.UTF_8);
    assertThat(decoded(now)).isEqualTo(status);
    String other = now.replace(from, to);
    assertThat(other).isNotEqualTo(now);
    assertThatThrownBy(() -> decoded(other)).isInstanceOf(MalformedRecordException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", " null", "", "7", "[]", "{} {}", "[[[[[["})
  void shouldRefuseWhatIsNoMessage(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (Class<?> kind : List.of(ReplicaStatus.class, NamesRequest.class, TableNames.class)) {
      assertThatThrownBy(() -> PlainMessage.decode(bytes, kind))
          .isInstanceOf(MalformedRecordException.class);
    }
  }

  /** A long question must not be as many scans of a table as it has numbers. */
  @Test
  void shouldTellOfAPartitionOnce_howeverOftenItIsAskedFor() {
    AtomicInteger looks = new AtomicInteger();
    IndexPartitions here =
        new Relayed.Placed("log") {
          @Override
          public @Nullable PartitionView view(int partition) {
            assertThat(partition).isZero();
            looks.incrementAndGet();
            return null;
          }
        };
    ReplicaStatus.of(Relayed.ID, here);
    int usual = looks.getAndSet(0);
    ReplicaStatus.of(Relayed.ID, here, 0, 0, -1, 1, Integer.MAX_VALUE, 0);
    assertThat(looks).hasValue(usual + 1);
  }

  private static ReplicaStatus wired(ReplicaStatus status) {
    return PlainMessage.decode(PlainMessage.encode(status), ReplicaStatus.class);
  }

  private static ReplicaStatus decoded(String json) {
    return PlainMessage.decode(json.getBytes(StandardCharsets.UTF_8), ReplicaStatus.class);
  }
}
