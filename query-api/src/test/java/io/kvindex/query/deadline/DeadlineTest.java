// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.deadline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.query.explain.TwoTables;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code X-KvIndex-Deadline-Ms} on every route that has it, over HTTP. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadlineTest {
  private static final HashProfile DYNAMO = HashProfile.of(Algorithm.XXH3_DYNAMO);

  /** One model under two profiles: an answer needs both tables, this one first. */
  private static final TableId FIRST = TwoTables.table(1, HashProfile.XXH3_DEFAULT);

  private static final TableId SECOND = TwoTables.table(1, DYNAMO);
  private static final int[] LONG = IntStream.range(0, 20_000).toArray();
  private static final String QUERY = "{\"model\":\"m\",\"block_size\":1,\"token_ids\":[1,2]}";

  private final HttpClient client = HttpClient.newHttpClient();
  private final TwoTables server = new TwoTables(FIRST, SECOND);

  DeadlineTest() {
    server.in(FIRST).store("e1/0/GPU", 0, LONG, 1, LONG);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @BeforeEach
  void reset() {
    server.beforeWalk = () -> {};
    server.asked.clear();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/query", "/query_batch", "/explain"})
  void shouldAnswer503_whenThereIsNoTimeAtAll(String path) throws Exception {
    String body = path.equals("/query_batch") ? "{\"queries\":[" + QUERY + "]}" : QUERY;
    assertLate(send(path, "0", body));
    assertThat(send(path, "30000", body).statusCode()).isEqualTo(200);
    HttpResponse<String> bad = send(path, "soon", body);
    assertThat(bad.statusCode()).isEqualTo(400);
    assertThat(bad.body()).contains("invalid_value").contains("X-KvIndex-Deadline-Ms");
  }

  /**
   * Time is up when the walk has begun, and the walk sees it: who only looked when it was over
   * would go on to the second table.
   */
  @ParameterizedTest
  @CsvSource({
    "/query,model,token_ids",
    "/query,model_name,token_ids",
    "/query_by_hash,model,seq_hashes",
    "/query_by_hash,model_name,block_hashes",
    "/explain,model,token_ids",
    "/query_batch,model,token_ids"
  })
  void shouldEndAtOnce_whenTimeIsUpWithinALongWalk(String path, String model, String items)
      throws Exception {
    long[] list = items.equals("seq_hashes") ? rolled() : locals(items);
    String query =
        "{\""
            + model
            + "\":\"m\",\"block_size\":1,\""
            + items
            + "\":"
            + Arrays.toString(list)
            + "}";
    String body = path.equals("/query_batch") ? "{\"queries\":[" + query + "]}" : query;
    assertThat(send(path, "30000", body).statusCode()).isEqualTo(200);
    assertThat(server.asked).contains(FIRST, SECOND);
    server.asked.clear();
    server.beforeWalk = () -> spin(400);
    // On a busy machine time may be up before the walk begins: such a try says nothing.
    await()
        .atMost(Duration.ofSeconds(40))
        .until(
            () -> {
              assertLate(send(path, "300", body));
              assertThat(server.asked).doesNotContain(SECOND);
              return server.asked.contains(FIRST);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"/query", "/explain"})
  void shouldAnswer503BeforeTheBodyIsThere_whenItComesLate(String path) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", server.port())) {
      socket.getOutputStream().write(ascii(head(path, 0, 100_000) + QUERY));
      socket.getOutputStream().flush(); // and nothing more: the answer must not wait for it
      String answer = answerFrom(socket);
      assertThat(answer).contains(" 503 ").contains("deadline_exceeded");
      assertThat(server.asked).isEmpty();
    }
  }

  /**
   * The client dawdles for longer than it gives the server. One try may go wrong on a busy machine,
   * where the first byte is read with the last one; time counted from there would never be up.
   */
  @ParameterizedTest
  @ValueSource(strings = {"/query", "/explain"})
  void shouldCountFromTheFirstByte_whenTheRequestComesSlowly(String path) {
    await()
        .pollInterval(Duration.ofMillis(1))
        .atMost(Duration.ofSeconds(40))
        .until(
            () -> {
              byte[] request = ascii(head(path, 1_000, QUERY.length()) + QUERY);
              try (Socket socket = new Socket("127.0.0.1", server.port())) {
                socket.setTcpNoDelay(true);
                socket.getOutputStream().write(request, 0, 3);
                socket.getOutputStream().flush();
                spin(1_200);
                socket.getOutputStream().write(request, 3, request.length - 3);
                socket.getOutputStream().flush();
                return answerFrom(socket).contains("deadline_exceeded");
              }
            });
  }

  private static long[] locals(String items) {
    if (items.equals("token_ids")) {
      return IntStream.of(LONG).asLongStream().toArray();
    }
    return new io.kvindex.model.hash.SeqHash(1337).locals(LONG, LONG.length, 1);
  }

  private static long[] rolled() {
    return new io.kvindex.model.hash.SeqHash(1337).rolled(locals("block_hashes"));
  }

  private static void spin(long millis) {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() < until) {
      Thread.onSpinWait();
    }
  }

  private static void assertLate(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
    assertThat(answer.body()).contains("deadline_exceeded").doesNotContain("e1");
    assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
  }

  private HttpResponse<String> send(String path, String deadline, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(server.uri(path))
            .header(Deadline.HEADER, deadline)
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static String head(String path, int deadline, int length) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: x\r\n"
        + Deadline.HEADER
        + ": "
        + deadline
        + "\r\nContent-Length: "
        + length
        + "\r\n\r\n";
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static String answerFrom(Socket socket) throws IOException {
    socket.setSoTimeout(20_000);
    StringBuilder text = new StringBuilder();
    InputStream in = socket.getInputStream();
    byte[] buffer = new byte[4096];
    for (int n; text.indexOf("}") < 0 && (n = in.read(buffer)) > 0; ) {
      text.append(new String(buffer, 0, n, StandardCharsets.UTF_8));
    }
    return text.toString();
  }
}
