// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import static io.kvindex.query.peer.Dumps.meaning;
import static io.kvindex.query.peer.Dumps.read;
import static io.kvindex.query.peer.Dumps.resource;
import static io.kvindex.query.peer.Dumps.written;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.query.peer.PeerBlocks.Source;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The shape of dumps, both ways. */
class DumpFormatTest {

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

  @Test
  void shouldMergeRunsThatGoOn() throws IOException {
    DumpReader.Dump dump = read(resource("dump-one-model.json"));
    Set<Integer> sizes = new TreeSet<>();
    dump.blocks().values().forEach(b -> b.stored(true, s -> sizes.add(s.engineHashes().size())));

    assertThat(sizes).as("rank 1 of worker 8 holds three blocks in a row").contains(3);
  }
}
