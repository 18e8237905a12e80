// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checkpoints of a process, over its HTTP API. One that falls silent is given up. */
final class RemoteLender implements Lender {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int CONNECT_MS = 2_000;

  /** The lender may write a checkpoint before it sends the first byte. */
  private static final int SILENCE_MS = 20_000;

  private static final int TOO_MANY_REQUESTS = 429;
  private static final int MOST_JSON = 4 << 20;

  private final String base;

  /**
   * What a process has.
   *
   * @param partitions of the log
   * @param offers of the partitions it has, in no order
   */
  record Offers(int partitions, List<CheckpointOffer> offers) {
    Offers {
      offers = List.copyOf(offers);
    }
  }

  /**
   * @param place {@code HOST:PORT}, with or without {@code http://}
   */
  RemoteLender(String place) {
    base = (place.startsWith("http://") ? place : "http://" + place).replaceFirst("/+$", "");
  }

  /** What there is of all partitions. */
  Offers offers() throws IOException {
    HttpURLConnection connection = get("/replica/checkpoints");
    try (InputStream body = connection.getInputStream()) {
      return parse(JSON.readTree(body.readNBytes(MOST_JSON)));
    } finally {
      connection.disconnect();
    }
  }

  private static Offers parse(JsonNode answer) {
    List<CheckpointOffer> offers = new ArrayList<>();
    for (JsonNode one : answer.path("checkpoints")) {
      offers.add(
          new CheckpointOffer(
              one.path("partition").asInt(-1),
              one.path("layout").asInt(),
              one.path("topic_id").asText(),
              one.path("offset").asLong(-1),
              one.path("since").asLong(),
              one.path("bytes").asLong(),
              one.path("busy").asBoolean()));
    }
    return new Offers(answer.path("partitions").asInt(), offers);
  }

  @Override
  public @Nullable CheckpointOffer offer(int partition) throws IOException {
    return offers().offers().stream()
        .filter(one -> one.partition() == partition)
        .findFirst()
        .orElse(null);
  }

  @Override
  public boolean fetch(Wanted wanted, Path into, Progress progress)
      throws IOException, CheckpointRefusedException, InterruptedException {
    HttpURLConnection connection = get("/replica/checkpoint?partition=" + wanted.partition());
    try {
      if (connection.getResponseCode() == TOO_MANY_REQUESTS) {
        return false;
      }
      try (InputStream body = connection.getInputStream()) {
        CheckpointStream.receive(body, into, wanted, progress);
      }
      return true;
    } finally {
      connection.disconnect(); // else what is left would be read to keep the connection
    }
  }

  private HttpURLConnection get(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(base + path).toURL().openConnection();
    connection.setConnectTimeout(CONNECT_MS);
    connection.setReadTimeout(SILENCE_MS);
    connection.setInstanceFollowRedirects(false);
    return connection;
  }
}
