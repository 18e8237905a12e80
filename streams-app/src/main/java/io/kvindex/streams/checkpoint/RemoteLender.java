// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checkpoints of a process, over its HTTP API. One that falls silent is given up. */
final class RemoteLender implements Lender {

  private static final ObjectReader OFFERS =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .build()
          .readerFor(Offers.class);
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
   * @param checkpoints of the partitions it has, in no order
   */
  record Offers(int partitions, List<CheckpointOffer> checkpoints) {}

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
      return OFFERS.readValue(body.readNBytes(MOST_JSON));
    } finally {
      connection.disconnect();
    }
  }

  @Override
  public @Nullable CheckpointOffer offer(int partition) throws IOException {
    return offers().checkpoints().stream()
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
