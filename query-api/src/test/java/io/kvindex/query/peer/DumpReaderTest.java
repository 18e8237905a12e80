// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import static io.kvindex.query.peer.Dumps.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.peer.PeerBlocks.Source;
import io.kvindex.query.peer.PeerMeters.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is taken of dumps, and what is left out. */
class DumpReaderTest {

  private static final String EVENT =
      "{'worker_id':7,'storage_tier':'device','event':{'event_id':0,'data':{'stored':{"
          + "'parent_hash':null,'blocks':[{'block_hash':1,'tokens_hash':2}]}},'dp_rank':0}}";

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

  /** What another type would be taken for is another block, another publisher, another cache. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          'worker_id':7|'worker_id':7.9
          'worker_id':7|'worker_id':'7'
          'worker_id':7|'worker_id':''
          'worker_id':7|'worker_id':true
          'dp_rank':0|'dp_rank':0.5
          'dp_rank':0|'dp_rank':'0'
          'dp_rank':0|'dp_rank':''
          'dp_rank':0|'dp_rank':false
          'dp_rank':0|'dp_rank':4294967296
          'block_hash':1|'block_hash':1.5
          'block_hash':1|'block_hash':1e3
          'block_hash':1|'block_hash':'1'
          'tokens_hash':2|'tokens_hash':2.0
          'tokens_hash':2|'tokens_hash':'2'
          'parent_hash':null|'parent_hash':5.5
          'parent_hash':null|'parent_hash':'5'
          'parent_hash':null|'start_position':0.5
          'parent_hash':null|'start_position':'0'
          'device'|1
          'worker_id':7|'worker_id':7,'residency_domain':1
          'worker_id':7|'worker_id':7,'kvindex':{'instance_id':7}
          'worker_id':7|'worker_id':7,'kvindex':{'publisher_rank':'7'}
          'worker_id':7|'worker_id':7,'kvindex':{'publisher_rank':7.5}
          'worker_id':7|'worker_id':7,'kvindex':{'cache_salt':true}
          'worker_id':7|'worker_id':7,'kvindex':{'unverified':1}
          'block_size':4|'block_size':4.7
          'block_size':4|'block_size':'4'
          'block_size':4|'block_size':4294967300
          'block_size':4|'block_size':4,'kvindex':{'tenant_id':1}
          """)
  void shouldTakeNothing_whenAValueHasAnotherType(String from, String to) throws IOException {
    String dump = "{'a:t':{'block_size':4,'events':[" + EVENT + "]}}";
    assertThat(read(dump).blocks()).hasSize(1);
    String other = dump.replace(from, to);
    assertThat(other).isNotEqualTo(dump);
    assertThatThrownBy(() -> read(other)).isInstanceOf(IOException.class);
  }

  @Test
  void shouldTakeNothing_whenTwoPartitionsAreOfOneTable() {
    String part = "{'block_size':4,'events':[" + EVENT + "]}";
    assertThatThrownBy(() -> read("{'a:t':" + part + ",'a:t':" + part + "}"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("a:t");
  }

  @Test
  void shouldTakeAPartition_whenItsErrorIsNull() throws IOException {
    String part = "{'block_size':4,'error':null,'events':[" + EVENT + "]}";
    assertThat(read("{'a:t':" + part + "}").blocks()).hasSize(1);
  }

  @Test
  void shouldTakeNothing_whenNestedWithoutEnd() {
    assertThatThrownBy(() -> read("{'a:t':" + "[".repeat(1_000_000)))
        .isInstanceOf(IOException.class);
  }
}
