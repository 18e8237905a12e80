// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import static io.kvindex.launcher.client.TrtllmTranslatorTest.block;
import static io.kvindex.launcher.client.TrtllmTranslatorTest.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.launcher.Main;
import io.kvindex.launcher.client.StandInServer.Rank;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The whole command, with real sockets and a stand-in for the server. */
@Timeout(60)
class IngestCommandTest {

  private static final String REMOVED = "{\"type\":\"removed\",\"block_hashes\":[1]}";

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path directory;

  @Test
  void shouldRegisterEachRank_whenObjectsNameSeveral() throws IOException {
    String events =
        event(0, 1, stored("null", block(1, 0, 4, 0, "[]")))
            + event(0, 0, stored("null", block(2, 4, 4, 0, "[{\"hash\":\"aa\"}]")))
            + event(1, 1, REMOVED)
            + "{\"event_id\":1,\"data\":"
            + REMOVED
            + "}\n"; // without a rank: 0
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).as(err.toString()).isZero();
      assertThat(server.ranks()).isEqualTo(2);
      for (int number = 0; number < 2; number++) {
        Rank rank = server.rank(number);
        assertThat(rank.registration().toString())
            .contains("\"dp_rank\":" + number, "\"block_size\":4", "\"copies\":\"set\"")
            .contains(
                "\"type\":\"TensorRT-LLM\"",
                "\"instance_id\":\"trt\"",
                "\"replace\":true",
                "\"modelname\":\"m\"");
        assertThat(rank.batches().keySet()).containsExactly(0L, 1L);
        assertThat(decode(rank, 0).rank()).isEqualTo(number);
        assertThat(event(rank, 1)).isInstanceOf(EngineEvent.Removed.class);
      }
      EngineEvent.Stored plain = (EngineEvent.Stored) event(server.rank(1), 0);
      EngineEvent.Stored image = (EngineEvent.Stored) event(server.rank(0), 0);
      assertThat(plain.hashes()).isEqualTo(Hashes.of(1));
      assertThat(plain.extraHashes()).isEqualTo(Hashes.EMPTY);
      assertThat(image.extraHashes().size()).isEqualTo(1);
    }
    assertThat(out.toString()).contains("removed: 2", "stored: 2").doesNotContain("missing");
  }

  /** The hole is left in the numbers, so that it is judged where all holes are. */
  @Test
  void shouldLeaveTheHole_whenAnEventIdIsMissing() throws IOException {
    String events = event(5, 0, REMOVED) + event(6, 0, REMOVED) + event(9, 0, REMOVED);
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).as(err.toString()).isZero();
      assertThat(server.rank(0).batches().keySet()).containsExactly(5L, 6L, 9L);
    }
    assertThat(out.toString()).contains("missing: 7", "removed: 3"); // 0 to 4, 7 and 8
  }

  @Test
  void shouldBeginAnew_whenNumbersDo() throws IOException {
    String events = event(0, 0, REMOVED) + event(1, 0, REMOVED) + event(0, 0, REMOVED);
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).as(err.toString()).isZero();
      assertThat(server.shown(0).life()).isEqualTo(2);
      assertThat(server.rank(0).batches().keySet()).containsExactly(0L);
    }
    assertThat(out.toString()).contains("restarts: 1");
  }

  /** It may be a polled event written twice, or another one under its number: nobody can tell. */
  @Test
  void shouldNameTheLineAndGoOn_whenAnEventIdComesTwice() throws IOException {
    String other = "{\"type\":\"removed\",\"block_hashes\":[2]}";
    String events =
        event(0, 0, REMOVED)
            + event(0, 0, REMOVED)
            + event(1, 0, REMOVED)
            + event(1, 0, other)
            + event(2, 0, REMOVED)
            + event(1, 0, REMOVED);
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).isEqualTo(1);
      assertThat(server.rank(0).batches().keySet()).containsExactly(0L, 1L, 2L);
      assertThat(server.shown(0).life()).isEqualTo(1);
    }
    assertThat(err.toString())
        .contains("line 2: event_id 0 of rank 0", "line 4: event_id 1", "line 6: event_id 1")
        .contains("3 events had a number that was there before");
    assertThat(out.toString()).contains("skipped_repeated_event_id: 3").doesNotContain("restarts");
  }

  @Test
  void shouldRefuseTheFile_whenABlockSaysWhatCannotBeRead() throws IOException {
    String salted = block(1, 0, 4, 0, "[]").replace("\"cache_level\"", "\"cache_salt\":7,\"l\"");
    String events =
        event(0, 0, REMOVED) + event(1, 0, stored("null", salted)) + event(2, 0, REMOVED);
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).isEqualTo(1);
      assertThat(server.rank(0).batches().keySet()).containsExactly(0L);
    }
    assertThat(err.toString()).contains("line 2: `cache_salt` must be a string");
  }

  /** For a moment answers still show the file before, whose numbers are as high. */
  @Test
  void shouldWaitForItsOwnEvents_whenAnotherFileCameBefore() throws IOException {
    String events = event(0, 0, REMOVED) + event(1, 0, REMOVED) + event(0, 0, REMOVED);
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).as(err.toString()).isZero();
      assertThat(ingest(server, file(event(0, 0, REMOVED)))).as(err.toString()).isZero();
      assertThat(server.shown(0).generation()).isEqualTo(2);
      assertThat(server.shown(0).batches().keySet()).containsExactly(0L);
    }
  }

  @Test
  void shouldReadStandardInput_whenTheFileIsADash() throws IOException {
    String array = "[" + event(0, 0, REMOVED) + "," + event(1, 0, REMOVED) + "]\n[]";
    InputStream before = System.in;
    try (StandInServer server = new StandInServer()) {
      System.setIn(new ByteArrayInputStream(array.getBytes(StandardCharsets.UTF_8)));
      assertThat(ingest(server, "-")).as(err.toString()).isZero();
      assertThat(server.rank(0).batches()).hasSize(2);
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void shouldKeepWhatCameBefore_whenALineIsNotJson() throws IOException {
    String events = event(0, 0, REMOVED) + "{\"event_id\":1,\n" + "oops\n" + event(2, 0, REMOVED);
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(events))).isEqualTo(1);
      assertThat(server.rank(0).batches().keySet()).containsExactly(0L);
    }
    assertThat(err.toString()).contains("line 3 is not JSON");
  }

  @Test
  void shouldSayWhere_whenAValueIsNoObject() throws IOException {
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(event(0, 0, REMOVED) + "7\n"))).isEqualTo(1);
    }
    assertThat(err.toString()).contains("line 2 holds no event");
  }

  @Test
  void shouldCountAndGoOn_whenAnObjectHasNoNumber() throws IOException {
    String bad = "{}\n{\"event_id\":-1}\n{\"event_id\":\"x\"}\n{\"event_id\":1.5}\n";
    String huge = "{\"event_id\":18446744073709551616}\n";
    try (StandInServer server = new StandInServer()) {
      assertThat(ingest(server, file(bad + huge + event(0, 0, REMOVED)))).isZero();
      assertThat(server.rank(0).batches()).hasSize(1);
    }
    assertThat(out.toString()).contains("skipped_no_event_id: 5");
  }

  private int ingest(StandInServer server, String file) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    List<String> arguments =
        List.of(
            ("ingest --format trtllm-json --instance trt --model m --block-size 4 --server "
                    + server.uri())
                .split(" "));
    String[] all =
        java.util.stream.Stream.concat(arguments.stream(), java.util.stream.Stream.of(file))
            .toArray(String[]::new);
    return command.execute(all);
  }

  private String file(String events) throws IOException {
    return Files.writeString(directory.resolve("events.json"), events).toString();
  }

  private static String event(int id, int rank, String data) {
    return "{\"event_id\":%d,\"attention_dp_rank\":%d,\"window_size\":4096,\"data\":%s}\n"
        .formatted(id, rank, data);
  }

  private static EngineEvent event(Rank rank, long sequence) {
    EngineBatch batch = decode(rank, sequence);
    assertThat(batch.events()).hasSize(1);
    return batch.events().get(0);
  }

  private static EngineBatch decode(Rank rank, long sequence) {
    byte[] payload = java.util.Objects.requireNonNull(rank.batches().get(sequence));
    return (EngineBatch) EngineDecoder.forSource(SourceType.VLLM).decode(payload);
  }
}
