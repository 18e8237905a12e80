// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.launcher.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

@Timeout(60)
class DiffCommandTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** A replica with one partition and the owners a test gives it. */
  private static final class Side implements AutoCloseable {
    private final HttpServer http;
    private final TreeMap<String, List<Long>> owners = new TreeMap<>();
    private final AtomicInteger asked = new AtomicInteger();
    private volatile long offset = 100;

    /** Grows by one with each look up to there. */
    private volatile long target = 100;

    private volatile int partition = 3;
    private volatile long since;

    /** One more that holds nothing, null = none. */
    private volatile @Nullable Integer another;

    /** Whether each look finds something else. */
    private volatile @Nullable String error;

    Side() throws IOException {
      http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      http.createContext("/digests", this::answer);
      http.start();
    }

    String uri() {
      return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    Side owns(String owner, long... hashes) {
      List<Long> list = new ArrayList<>();
      for (long hash : hashes) {
        list.add(hash);
      }
      owners.put(owner, list);
      return this;
    }

    private void answer(HttpExchange exchange) throws IOException {
      boolean blocks = exchange.getRequestURI().getPath().endsWith("/blocks");
      byte[] body =
          JSON.writeValueAsBytes(blocks ? blocks(exchange.getRequestURI().getQuery()) : digests());
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    }

    private ObjectNode digests() {
      asked.incrementAndGet();
      offset = Math.min(target, offset + 1);
      ObjectNode body = JSON.createObjectNode().put("copy", "index-" + since);
      ArrayNode parts = body.putArray("partitions");
      if (another != null) {
        parts.addObject().put("partition", another).put("state", "live").putArray("owners");
      }
      ObjectNode part = parts.addObject();
      part.put("partition", partition).put("state", "live").put("applied_offset", offset);
      part.put("since", since);
      if (error != null) {
        part.put("error", error);
      }
      part.put("streams", 1).put("held_back", 0).put("positions", "00");
      ArrayNode list = part.putArray("owners");
      owners.forEach(
          (id, hashes) ->
              list.addObject()
                  .put("id", id)
                  .put("instance_id", "vllm-" + id)
                  .put("medium", "GPU")
                  .put("blocks", hashes.size())
                  .put("digest", Long.toHexString(hashes.hashCode())));
      return body;
    }

    /** Two at a time. */
    private ObjectNode blocks(String query) {
      String owner = query.replaceAll(".*owner=(\\w+).*", "$1");
      boolean paged = query.contains("after=");
      long after = paged ? Long.parseUnsignedLong(query.replaceAll(".*after=(\\w+).*", "$1")) : 0;
      ObjectNode body = JSON.createObjectNode().put("owner", owner);
      ArrayNode list = body.putArray("blocks");
      owners.getOrDefault(owner, List.of()).stream()
          .filter(hash -> !paged || Long.compareUnsigned(hash, after) > 0)
          .sorted(Long::compareUnsigned)
          .limit(2)
          .forEach(
              hash ->
                  list.addObject()
                      .put("engine_hash", new BigInteger(Long.toUnsignedString(hash)))
                      .put("group", 0)
                      .put("copies", 1)
                      .put("key", "00"));
      return body;
    }

    @Override
    public void close() {
      http.stop(0);
    }
  }

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Side a;
  private Side b;

  @BeforeEach
  void start() throws IOException {
    a = new Side();
    b = new Side();
  }

  @AfterEach
  void stop() {
    a.close();
    b.close();
  }

  private int diff(String... more) {
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(out, true));
    commandLine.setErr(new PrintWriter(err, true));
    List<String> arguments = new ArrayList<>(List.of("diff", a.uri(), b.uri()));
    arguments.addAll(List.of(more));
    return commandLine.execute(arguments.toArray(String[]::new));
  }

  /** It would be left out: both sides would be one server, and the same. */
  @Test
  void shouldRefuseAddressesWithAPath() throws Exception {
    try (Side gateway = new Side()) {
      StringWriter err = new StringWriter();
      CommandLine commandLine = Main.commandLine();
      commandLine.setErr(new PrintWriter(err, true));
      assertThat(commandLine.execute("diff", gateway.uri() + "/a", gateway.uri() + "/b"))
          .isEqualTo(DiffCommand.NOT_COMPARABLE);
      assertThat(err.toString()).contains("must be http://HOST:PORT", "/a");
    }
  }

  @Test
  void shouldBeZero_whenBothHoldTheSame() {
    a.owns("1", 1, 2, 3);
    b.owns("1", 1, 2, 3);
    assertThat(diff()).isZero();
    assertThat(out.toString()).contains("partition 3: the same at offset 100", "3 blocks");
  }

  @Test
  void shouldWait_whenOneIsBehind() {
    a.owns("1", 1);
    b.owns("1", 1);
    b.offset = 95;
    assertThat(diff()).isZero();
    assertThat(b.asked.get()).isGreaterThan(3);
  }

  @Test
  void shouldListBlocks_whenOneIsMissingOnEitherSide() {
    a.owns("1", 1, 2, 3, 4, 5, -7).owns("2", 9);
    b.owns("1", 1, 2, 4, 5, 6, -7).owns("2", 9);
    assertThat(diff()).isEqualTo(1);
    assertThat(out.toString())
        .contains("partition 3: different at offset 100")
        .contains("vllm-1 rank")
        .doesNotContain("vllm-2 rank")
        .contains("only in A: block 3 ")
        .contains("only in B: block 6 ")
        .containsOnlyOnce("only in A")
        .containsOnlyOnce("only in B");
  }

  @Test
  void shouldListNoMoreThanWanted_whenAnOwnerIsOnOneSideOnly() {
    a.owns("1", 1, 2, 3, 4, 5);
    assertThat(diff("--limit", "2")).isEqualTo(1);
    assertThat(out.toString())
        .contains("A: 5 blocks, B: nothing", "block 2 ", "--limit")
        .doesNotContain("0000000000000003");
  }

  @Test
  void shouldSayHowFarApart_whenOneStaysBehind() {
    a.owns("1", 1);
    b.owns("1", 1);
    b.offset = 50;
    b.target = 60;
    assertThat(diff("--wait", "1")).isEqualTo(2);
    assertThat(out.toString()).contains("A has applied up to offset 100", "not comparable");
  }

  @Test
  void shouldNameBothLineages_whenTheyWereFoldedFromDifferentRecordsOn() {
    a.owns("1", 1);
    b.since = 40;
    assertThat(diff("--wait", "600")).as("no wait ends it").isEqualTo(2);
    assertThat(out.toString())
        .contains(
            "A (copy index-0) was folded from offset 0 on, B (copy index-40) was folded from offset 40 on")
        .contains("not comparable");
    b.offset = -1;
    b.target = -1;
    assertThat(diff("--wait", "0")).isEqualTo(2);
    assertThat(out.toString()).contains("B up to -1");
  }

  @Test
  void shouldNotBeComparable_whenTheyShareNoPartition() {
    b.partition = 4;
    assertThat(diff("--wait", "0")).isEqualTo(2);
    assertThat(out.toString()).contains("no partition in common", "partition 4: not in A");
  }

  @Test
  void shouldSayThatNotAllWasCompared_whenOneSideHoldsMore() {
    a.owns("1", 1);
    b.owns("1", 1);
    b.another = 4;
    assertThat(diff()).isZero();
    assertThat(out.toString())
        .contains("partition 4: not in A", "the same as far as compared: 1 partitions");
  }

  @Test
  void shouldNotSayThatTheyAreTheSame_whenWhatIsAskedForCanNotBeRead() {
    b.error = "the partition has moved away";
    assertThat(diff("--wait", "0", "--instance", "vllm-1")).isEqualTo(2);
    assertThat(out.toString()).contains("can not be read in B: the partition has moved away");
  }

  @Test
  void shouldNotSayThatTheyDiffer_whenNobodyAnswers() {
    b.close();
    assertThat(diff("--wait", "0")).isEqualTo(2);
    assertThat(err.toString()).contains("kvindex diff: http://127.0.0.1:", "does not answer");
  }
}
