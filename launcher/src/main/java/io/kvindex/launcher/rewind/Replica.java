// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.launcher.client.ServerAddress;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One side of a comparison: a replica with its HTTP API. For any thread. */
public final class Replica {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int OK = 200;
  private static final int PAGE = 10_000;

  /** Rows of ten million blocks are read in some seconds. */
  private static final Duration ANSWER = Duration.ofMinutes(5);

  private final URI uri;
  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

  private Replica(URI uri) {
    this.uri = uri;
  }

  /**
   * A side by its address.
   *
   * @throws IllegalArgumentException if it is no HTTP URL
   */
  public static Replica at(String url) {
    return new Replica(ServerAddress.of("a replica", url));
  }

  /**
   * What one partition holds there.
   *
   * @param error why it could not be read, null = it could
   * @param copy whose table it is, empty = it has no name
   * @param since offset of the first record the table was folded from without a gap
   * @param owners by id
   */
  public record Part(
      String copy,
      @Nullable String error,
      long since,
      long offset,
      long streams,
      long held,
      String positions,
      Map<String, JsonNode> owners) {

    /** Over all owners. */
    public long blocks() {
      return owners.values().stream().mapToLong(owner -> owner.path("blocks").asLong()).sum();
    }
  }

  /** One row of an owner. */
  record Row(long engineHash, int group, int copies, @Nullable String key) {}

  /**
   * Digests by partition.
   *
   * @param filters parameters of {@code GET /digests}
   */
  public Map<Integer, Part> digests(Map<String, String> filters)
      throws IOException, InterruptedException {
    Map<Integer, Part> parts = new TreeMap<>();
    JsonNode all = get("/digests", filters);
    for (JsonNode one : all.path("partitions")) {
      Map<String, JsonNode> owners = new TreeMap<>();
      one.path("owners").forEach(owner -> owners.put(owner.path("id").asText(), owner));
      parts.put(
          one.path("partition").asInt(),
          new Part(
              all.path("copy").asText(),
              one.hasNonNull("error") ? one.path("error").asText() : null,
              one.path("since").asLong(),
              one.path("applied_offset").asLong(),
              one.path("streams").asLong(),
              one.path("held_back").asLong(),
              one.path("positions").asText(),
              owners));
    }
    return parts;
  }

  /** One page of an owner's rows; empty = there are no more. */
  List<Row> rows(String owner, @Nullable Long after) throws IOException, InterruptedException {
    Map<String, String> parameters = new TreeMap<>();
    parameters.put("owner", owner);
    parameters.put("limit", Integer.toString(PAGE));
    if (after != null) {
      parameters.put("after", Long.toUnsignedString(after));
    }
    List<Row> rows = new ArrayList<>();
    for (JsonNode row : get("/digests/blocks", parameters).path("blocks")) {
      rows.add(
          new Row(
              Long.parseUnsignedLong(row.path("engine_hash").asText()),
              row.path("group").asInt(),
              row.path("copies").asInt(),
              row.hasNonNull("key") ? row.path("key").asText() : null));
    }
    return rows;
  }

  private JsonNode get(String path, Map<String, String> parameters)
      throws IOException, InterruptedException {
    StringBuilder query = new StringBuilder();
    parameters.forEach(
        (name, value) ->
            query
                .append(query.isEmpty() ? '?' : '&')
                .append(name)
                .append('=')
                .append(URLEncoder.encode(value, StandardCharsets.UTF_8)));
    HttpRequest request =
        HttpRequest.newBuilder(uri.resolve(path + query)).timeout(ANSWER).GET().build();
    HttpResponse<byte[]> answer;
    try {
      answer = http.send(request, BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw new IOException(uri + " does not answer: " + e, e);
    }
    if (answer.statusCode() != OK) {
      String text = new String(answer.body(), StandardCharsets.UTF_8);
      throw new IOException(uri + " refused " + path + " (" + answer.statusCode() + "): " + text);
    }
    return JSON.readTree(answer.body());
  }
}
