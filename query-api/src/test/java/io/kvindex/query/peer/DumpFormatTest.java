// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import static io.kvindex.query.peer.Dumps.meaning;
import static io.kvindex.query.peer.Dumps.read;
import static io.kvindex.query.peer.Dumps.resource;
import static io.kvindex.query.peer.Dumps.written;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.query.peer.PeerBlocks.Source;
import io.kvindex.query.peer.PeerMeters.Outcome;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpFailedException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The shape of dumps, both ways. */
class DumpFormatTest {

  private static final TableId TABLE = new TableId("t", "m", 4, HashProfile.XXH3_DEFAULT);
  private static final String EVENT =
      "{'worker_id':7,'storage_tier':'device','event':{'event_id':0,'data':{'stored':{"
          + "'parent_hash':null,'blocks':[{'block_hash':1,'tokens_hash':2}]}},'dp_rank':0}}";

  @ParameterizedTest
  @ValueSource(strings = {"dump-one-model.json", "dump-three-models.json", "dump-example-3.json"})
  void shouldSayTheSame_whenAGoldenDumpIsReadAndWritten(String name) throws IOException {
    Set<String> golden = meaning(resource(name));
    golden.removeIf(line -> line.startsWith("empty:")); // of no publisher

    assertThat(meaning(written(read(resource(name))))).isEqualTo(golden);
  }

  @Test
  void shouldHaveEveryMemberOfTheShape_whenWritten() throws IOException {
    JsonNode golden = Dumps.JSON.readTree(resource("dump-one-model.json"));
    JsonNode event = golden.get("llama-3-8b:default").get("events").get(0);

    JsonNode ours =
        Dumps.JSON
            .readTree(written(read(resource("dump-one-model.json"))))
            .get("llama-3-8b:default")
            .get("events")
            .get(0);

    assertThat(ours).isEqualTo(event);
  }

  @Test
  void shouldSplitKeysAtTheLastColon() throws IOException {
    assertThat(read(resource("dump-three-models.json")).blocks().keySet())
        .extracting(Source::model, s -> s.publisher().tenantId(), Source::blockSize)
        .contains(
            org.assertj.core.groups.Tuple.tuple("org/model:v2", "acme", 16),
            org.assertj.core.groups.Tuple.tuple("org/model:v2", "default", 64));
  }

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

    @Override
    public void write(int b) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void write(byte[] from, int at, int length) {
      bytes.addAndGet(length);
      largest = Math.max(largest, length);
    }
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

  @Test
  void shouldTakeTheOtherPartitions_whenOneHasAnError() throws IOException {
    DumpReader.Dump dump =
        read(
            "{'a:t':{'error':'no'},'b:t':{'events':["
                + EVENT
                + "],'block_size':4},'c:t':{'block_size':4,'events':["
                + EVENT
                + "],'error':'half'},'d':{'block_size':4,'events':[]},'e:t':{'events':["
                + EVENT
                + "]}}");

    assertThat(dump.blocks().keySet()).extracting(Source::model).containsExactly("b");
    assertThat(dump.leftOut()).containsEntry(Outcome.PARTITION, 4L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'device'|HELD|'storage_tier':'device'|'storage_tier':'warp'|TIER
          domain|HELD|'worker_id':7|'worker_id':7,'residency_domain':'cache_owner'|CACHE_OWNER
          position|HELD|'parent_hash':null|'parent_hash':null,'start_position':3|NO_PARENT
          hearsay|HELD|'worker_id':7|'worker_id':7,'kvindex':{'unverified':true}|HEARSAY
          """)
  void shouldLeaveOut_whatCanNotBeFiled(
      String what, String held, String from, String to, Outcome outcome) throws IOException {
    DumpReader.Dump dump =
        read("{'a:t':{'block_size':4,'events':[" + EVENT.replace(from, to) + "]}}");

    assertThat(dump.leftOut()).containsExactly(Map.entry(outcome, 1L));
    assertThat(dump.blocks()).isEmpty();
  }

  @Test
  void shouldForgetARank_whenTheDumpTakesSomethingBack() throws IOException {
    String cleared = "{'worker_id':7,'event':{'event_id':1,'data':'cleared','dp_rank':0}}";
    String other = EVENT.replace("'dp_rank':0", "'dp_rank':1");
    DumpReader.Dump dump =
        read("{'a:t':{'block_size':4,'events':[" + EVENT + "," + other + "," + cleared + "]}}");

    assertThat(dump.blocks().entrySet().stream().filter(e -> e.getValue().blocks() > 0))
        .singleElement()
        .satisfies(e -> assertThat(e.getKey().publisher().dpRank()).isOne());
    assertThat(dump.leftOut()).containsExactly(Map.entry(Outcome.TAKEN_BACK, 1L));
  }

  @Test
  void shouldReadSignedHashesToo() throws IOException {
    DumpReader.Dump dump =
        read("{'a:t':{'block_size':4,'events':[" + EVENT.replace("hash':1", "hash':-1") + "]}}");
    List<Long> hashes = new ArrayList<>();
    dump.blocks().values().forEach(b -> b.stored(true, s -> hashes.add(s.engineHashes().get(0))));

    assertThat(hashes).containsExactly(-1L);
  }

  @Test
  void shouldHoldNoMoreThanItMay() throws IOException {
    String many = EVENT + ("," + EVENT).repeat(99);
    byte[] dump =
        ("{'a:t':{'block_size':4,'events':[" + many + "]}}")
            .replace('\'', '"')
            .getBytes(StandardCharsets.UTF_8);

    DumpReader.Dump read = DumpReader.read(new java.io.ByteArrayInputStream(dump), 10);

    assertThat(read.blocks().values())
        .singleElement()
        .extracting(PeerBlocks::blocks)
        .isEqualTo(10L);
    assertThat(read.leftOut()).containsExactly(Map.entry(Outcome.HELD_LIMIT, 90L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{'a:t':",
        "{'a:t':7}",
        "{} x",
        "<html>",
        "{'a:t':{'block_size':4,'events':[{'worker_id':1}",
        "{'a:t':{'block_size':4,'events':[{}]}}",
        "{'a:t':{'block_size':-4,'events':[]}}",
        "{'a:t':{'events':[{'worker_id':'x'}]}}",
        "{'a:t':{'events':[{'worker_id':18446744073709551616}]}}",
        "{'a:t':{'events':[{'worker_id':1,'event':{'data':{'stored':{'blocks':[{'block_hash':1}]}}}}]}}",
        "{'a:t':{'events':[{'worker_id':1,'event':{'data':{'stored':{'blocks':[7]}}}}]}}",
      })
  void shouldTakeNothing_whenItIsRubbish(String rubbish) {
    assertThatThrownBy(() -> read(rubbish)).isInstanceOf(IOException.class);
  }

  @Test
  void shouldTakeNothing_whenNestedWithoutEnd() {
    assertThatThrownBy(() -> read("{'a:t':" + "[".repeat(1_000_000)))
        .isInstanceOf(IOException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "0,true",
    "7,true",
    "18446744073709551615,true",
    "18446744073709551616,false",
    "007,false",
    "+7,false",
    "-7,false",
    "pod-1,false",
    "'',false"
  })
  void shouldNumberInstances(String instance, boolean number) {
    assertThat(WorkerId.isNumber(instance)).isEqualTo(number);
    if (number) {
      assertThat(Long.toUnsignedString(WorkerId.of(instance))).isEqualTo(instance);
    } else {
      assertThat(WorkerId.of(instance)).isNotNegative();
    }
  }

  @Test
  void shouldMergeRunsThatGoOn() throws IOException {
    DumpReader.Dump dump = read(resource("dump-one-model.json"));
    Set<Integer> sizes = new TreeSet<>();
    dump.blocks().values().forEach(b -> b.stored(true, s -> sizes.add(s.engineHashes().size())));

    assertThat(sizes).as("rank 1 of worker 8 holds three blocks in a row").contains(3);
  }
}
