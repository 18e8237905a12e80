// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.Incarnation;
import io.kvindex.model.TableId;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.peer.DumpParts.DumpPart;
import io.kvindex.streams.index.Owner;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** What tests of dumps share. */
final class Dumps {

  static final ObjectMapper JSON = new ObjectMapper();

  private Dumps() {}

  static byte[] resource(String name) throws IOException {
    try (InputStream in = Dumps.class.getResourceAsStream("/peer/" + name)) {
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  static DumpReader.Dump read(byte[] dump) throws IOException {
    return DumpReader.read(new ByteArrayInputStream(dump), 1_000_000);
  }

  static DumpReader.Dump read(String dump) throws IOException {
    return read(dump.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  /** One line per block: all that a dump says of it. */
  static Set<String> meaning(byte[] dump) throws IOException {
    Set<String> lines = new TreeSet<>();
    JsonNode root = JSON.readTree(dump);
    for (Map.Entry<String, JsonNode> part : root.properties()) {
      String table = part.getKey() + " " + part.getValue().get("block_size").asInt();
      lines.add(table);
      for (JsonNode event : part.getValue().get("events")) {
        lines.addAll(blocks(table, event));
      }
    }
    return lines;
  }

  private static List<String> blocks(String table, JsonNode event) {
    List<String> lines = new ArrayList<>();
    String worker =
        String.join(
            " ",
            event.get("worker_id").asText(),
            event.get("event").get("dp_rank").asText(),
            event.get("storage_tier").asText());
    JsonNode stored = event.get("event").get("data").get("stored");
    String before = stored.get("parent_hash").asText();
    for (JsonNode block : stored.get("blocks")) {
      lines.add(
          String.join(
              " ",
              table,
              worker,
              before,
              block.get("block_hash").asText(),
              block.get("tokens_hash").asText()));
      before = block.get("block_hash").asText();
    }
    return lines;
  }

  /** A dump written from what another one said, as if every block were held here. */
  static byte[] written(DumpReader.Dump dump) throws IOException {
    List<DumpPart> parts = new ArrayList<>();
    dump.blocks().keySet().stream()
        .map(source -> key(source))
        .distinct()
        .forEach(key -> parts.add(part(key, dump)));
    return written(parts);
  }

  static byte[] written(List<DumpPart> parts) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new DumpWriter(out).write(parts);
    return out.toByteArray();
  }

  private static String key(PeerBlocks.Source source) {
    return source.model() + ":" + source.publisher().tenantId();
  }

  private static DumpPart part(String key, DumpReader.Dump dump) {
    PeerBlocks.Source any =
        dump.blocks().keySet().stream().filter(s -> key(s).equals(key)).findFirst().orElseThrow();
    TableId table =
        new TableId(
            any.publisher().tenantId(), any.model(), any.blockSize(), HashProfile.XXH3_DEFAULT);
    return new DumpPart(
        key,
        table,
        TellingView.of(
            List.of(),
            (t, wanted, visitor) -> {
              for (Map.Entry<PeerBlocks.Source, PeerBlocks> one : dump.blocks().entrySet()) {
                if (key(one.getKey()).equals(key)) {
                  List<Stored> events = new ArrayList<>();
                  one.getValue().stored(true, events::add);
                  for (Stored event : events) {
                    visitor.run(
                        owner(one.getKey(), event),
                        0,
                        event.parent(),
                        event.engineHashes().toArray(),
                        event.localHashes().toArray(),
                        event.engineHashes().size());
                  }
                }
              }
            }),
        false,
        true,
        Map.of(),
        true);
  }

  private static Owner owner(PeerBlocks.Source source, Stored event) {
    return new Owner(
        source.publisher().tenantId(),
        source.publisher().instanceId(),
        source.publisher().dpRank(),
        event.place().rank(),
        event.place().medium(),
        false,
        null,
        new Incarnation(1, 1, 0));
  }
}
