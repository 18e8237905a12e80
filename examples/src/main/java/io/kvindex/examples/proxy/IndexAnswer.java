// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads kvindex's answers, numbers only as far as the headers say that they can be trusted. */
final class IndexAnswer {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Too many to be named; an instance with this name is written %2A. */
  private static final String ALL = "*";

  private IndexAnswer() {}

  /**
   * The numbers of a 200. {@code stale}: none. {@code degraded}: those of the instances that are
   * not named, because a number that is wrong may be too high for ever.
   */
  static Matches read(HttpResponse<byte[]> response, String tenant) throws IOException {
    if (response.headers().firstValue("X-KvIndex-State").orElse("").equals("stale")) {
      return Matches.unknown(Reason.INDEX_STALE);
    }
    String names = response.headers().firstValue("X-KvIndex-Degraded").orElse("");
    Set<String> degraded = decoded(names);
    boolean dropped = false;
    Map<String, Integer> tokens = new HashMap<>();
    JsonNode rows = JSON.readTree(response.body()).path(tenant);
    for (Map.Entry<String, JsonNode> row : rows.properties()) {
      int matched = row.getValue().path("longest_matched").asInt();
      if (matched > 0) {
        boolean doubtful = names.equals(ALL) || degraded.contains(row.getKey());
        dropped |= doubtful;
        tokens.put(row.getKey(), doubtful ? 0 : matched);
      }
    }
    boolean nothingLeft = tokens.values().stream().allMatch(matched -> matched == 0);
    return dropped && nothingLeft ? Matches.unknown(Reason.INDEX_DEGRADED) : Matches.of(tokens);
  }

  /** The stable code of a refusal, empty if there is none. */
  static String reason(HttpResponse<byte[]> response) {
    try {
      return JSON.readTree(response.body()).path("reason").asText();
    } catch (IOException e) {
      return "";
    }
  }

  /** Percent-encoded names; a plus is a plus in them. */
  private static Set<String> decoded(String names) {
    return Stream.of(names.split(",", -1))
        .map(name -> URLDecoder.decode(name.replace("+", "%2B"), StandardCharsets.UTF_8))
        .collect(Collectors.toSet());
  }
}
