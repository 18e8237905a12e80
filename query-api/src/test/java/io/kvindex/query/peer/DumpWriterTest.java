// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import static io.kvindex.query.peer.Dumps.meaning;
import static io.kvindex.query.peer.Dumps.read;
import static io.kvindex.query.peer.Dumps.written;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.peer.DumpParts.DumpPart;
import io.kvindex.query.peer.PeerBlocks.Source;
import io.kvindex.query.peer.PeerMeters.Outcome;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpFailedException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is written of tables, and when. */
class DumpWriterTest {

  private static final TableId TABLE = new TableId("t", "m", 4, HashProfile.XXH3_DEFAULT);

  private static DumpPart part(
      boolean extended, Map<Long, ContextNames> contexts, TellingView.Telling telling) {
    return new DumpPart(
        "m:t",
        TABLE,
        TellingView.of(List.copyOf(contexts.values()), telling),
        extended,
        true,
        contexts,
        true);
  }

  private static Owner owner(
      String instance, int publisherRank, int rank, @Nullable String medium) {
    return new Owner(
        "t", instance, publisherRank, rank, medium, false, null, new Incarnation(1, 1, 0));
  }

  @Test
  void shouldKeepWhatDynamoHasNoWordFor_inAMemberOfOurs() throws IOException {
    ContextNames lora = new ContextNames(9, "adapter", "ns", "salt");
    byte[] dump =
        written(
            List.of(
                part(
                    true,
                    Map.of(9L, lora),
                    (table, wanted, visitor) -> {
                      assertThat(wanted.test(8)).isFalse();
                      visitor.run(
                          owner("pod-a", 0, 2, "NPU"),
                          9,
                          Parent.ROOT,
                          new long[] {1},
                          new long[] {2},
                          1);
                    })));

    DumpReader.Dump read = read(dump);

    Source source = read.blocks().keySet().iterator().next();
    assertThat(source)
        .isEqualTo(new Source(new PublisherId("pod-a", "t", 0), "m", 4, HashProfile.XXH3_DEFAULT));
    List<String> places = new ArrayList<>();
    java.util.Objects.requireNonNull(read.blocks().get(source))
        .stored(true, s -> places.add(s.place() + " " + s.context() + " " + s.parent()));
    assertThat(places)
        .singleElement()
        .asString()
        .contains("medium=NPU, rank=2", "loraName=adapter", "namespace=ns", "salt=salt", "ROOT");
    JsonNode event = Dumps.JSON.readTree(dump).get("m:t").get("events").get(0);
    assertThat(event.get("worker_id").asLong()).isPositive().isEqualTo(WorkerId.of("pod-a"));
  }

  @Test
  void shouldLeaveOutBlocksWithoutTokens_andGoOnBehindThem() throws IOException {
    byte[] dump =
        written(
            List.of(
                part(
                    false,
                    Map.of(),
                    (table, wanted, visitor) ->
                        visitor.run(
                            owner("1", 0, 0, null),
                            0,
                            Parent.ROOT,
                            new long[] {1, 2, 3},
                            new long[] {5, 0, 7},
                            3))));

    assertThat(meaning(dump))
        .containsExactlyInAnyOrder("m:t 4", "m:t 4 1 0 device null 1 5", "m:t 4 1 0 device 2 3 7");
  }

  @Test
  void shouldStayWellFormedAndSayAnError_whenAPartitionFailsHalfWay() throws IOException {
    byte[] dump =
        written(
            List.of(
                part(
                    false,
                    Map.of(),
                    (table, wanted, visitor) -> {
                      visitor.run(
                          owner("1", 0, 0, null),
                          0,
                          Parent.ROOT,
                          new long[] {1},
                          new long[] {5},
                          1);
                      throw new DumpFailedException("moved");
                    }),
                new DumpPart("n:t", TABLE, null, false, true, Map.of(), true)));

    JsonNode json = Dumps.JSON.readTree(dump);
    assertThat(json.get("m:t").get("error").asText()).isEqualTo("moved");
    assertThat(json.get("n:t").properties()).hasSize(1);
    assertThat(read(dump).blocks()).as("half a partition is none").isEmpty();
    assertThat(read(dump).leftOut()).containsEntry(Outcome.PARTITION, 2L);
  }

  /** Counts, and never keeps. */
  private static final class Sink extends OutputStream {
    private final AtomicLong bytes = new AtomicLong();
    private int largest;
    private int flushed;
    private int closed;

    @Override
    public void write(int b) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void write(byte[] from, int at, int length) {
      bytes.addAndGet(length);
      largest = Math.max(largest, length);
    }

    @Override
    public void flush() {
      flushed++;
    }

    @Override
    public void close() {
      closed++;
    }
  }

  /** What is flushed or closed before its end has no Content-Length. */
  @Test
  void shouldLeaveTheStreamToItsOwner_whenTheDumpIsShort() throws IOException {
    Sink sink = new Sink();
    new DumpWriter(sink).write(List.of());
    assertThat(sink.bytes.get()).isEqualTo(2);
    assertThat(sink.flushed).isZero();
    assertThat(sink.closed).isZero();
  }

  @Test
  void shouldWriteWhileItReads_whenTheDumpIsLarge() throws IOException {
    Sink sink = new Sink();
    long[] hashes = new long[256];
    java.util.Arrays.fill(hashes, -1);
    AtomicLong behind = new AtomicLong();
    new DumpWriter(sink)
        .write(
            List.of(
                part(
                    false,
                    Map.of(),
                    (table, wanted, visitor) -> {
                      long told = 0;
                      for (int run = 0; run < 10_000; run++) {
                        visitor.run(owner("1", 0, 0, null), 0, Parent.ROOT, hashes, hashes, 256);
                        told += 256 * 80L;
                        behind.set(Math.max(behind.get(), told - sink.bytes.get()));
                      }
                    })));

    assertThat(sink.bytes.get()).isGreaterThan(200_000_000L);
    assertThat(sink.largest).isLessThanOrEqualTo(64 << 10);
    assertThat(behind.get()).as("bytes not written yet").isLessThan(200_000);
  }
}
