// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/** Asks for a prompt in one context, in each form there is; the answer is who holds any of it. */
final class ContextQueries {
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI server;
  private final int[] prompt;

  ContextQueries(URI server, int[] prompt) {
    this.server = server;
    this.prompt = prompt;
  }

  /** How a context is asked for. */
  enum Form {
    CONDUCTOR,
    CONDUCTOR_OCTETS,
    CONDUCTOR_BY_HASH,
    CONDUCTOR_BY_HASH_OCTETS,
    EXPLAIN,
    BINARY,
    BINARY_BYTES,
    BINARY_BY_HASH,
    DYNAMO,
    DYNAMO_OCTETS,
    DYNAMO_BY_HASH,
    DYNAMO_BY_HASH_OCTETS,
    DYNAMO_TIERED;

    boolean isDynamo() {
      return name().startsWith("DYNAMO");
    }

    boolean isByHash() {
      return name().contains("HASH") || this == DYNAMO_TIERED;
    }

    boolean isOctets() {
      return name().endsWith("OCTETS");
    }

    boolean isBinary() {
      return name().startsWith("BINARY");
    }

    String path() {
      return this == EXPLAIN
          ? "/explain"
          : this == DYNAMO_TIERED
              ? "/query_tiered_by_hash"
              : isByHash() ? "/query_by_hash" : "/query";
    }
  }

  /** Whether the names fit into a request line, which is 8 KiB at most. */
  boolean canAsk(HeldContext asked, Form form) {
    return !form.isOctets() || parameters(asked, form).length() < 8_000;
  }

  /** Instances that match anything. */
  Set<String> matching(HeldContext asked, Form form) {
    if (form.isBinary()) {
      return binary(asked, form);
    }
    byte[] answer;
    if (form.isOctets()) {
      answer =
          post(
              form.path() + parameters(asked, form),
              octets(asked, form),
              "application/octet-stream");
    } else {
      answer =
          post(
              form.path(),
              json(asked, form).toString().getBytes(StandardCharsets.UTF_8),
              "application/json");
    }
    return matching(read(answer), asked, form);
  }

  /** The same of several contexts in one batch. */
  List<Set<String>> matching(List<HeldContext> asked, Form form) {
    ObjectNode body = Api.JSON.createObjectNode();
    ArrayNode queries = body.putArray("queries");
    asked.forEach(one -> queries.add(json(one, form)));
    JsonNode answers =
        read(post(
                "/query_batch",
                body.toString().getBytes(StandardCharsets.UTF_8),
                "application/json"))
            .path("answers");
    List<Set<String>> matching = new java.util.ArrayList<>();
    for (int i = 0; i < asked.size(); i++) {
      if (answers.path(i).path("status").asInt() != 200) {
        throw new AssertionError(asked.get(i) + " " + form + ": " + answers.path(i));
      }
      matching.add(matching(answers.path(i).path("body"), asked.get(i), form));
    }
    return matching;
  }

  private Set<String> matching(JsonNode answer, HeldContext asked, Form form) {
    if (form == Form.DYNAMO_TIERED) {
      return tiered(answer);
    }
    Set<String> found = new TreeSet<>();
    if (form == Form.EXPLAIN) {
      for (JsonNode table : answer.path("tables")) {
        for (JsonNode row : table.path("instances")) {
          if (row.path("matched_tokens").asInt() > 0) {
            found.add(row.path("instance_id").asText());
          }
        }
      }
      return found;
    }
    String key = form.isDynamo() || form.isBinary() ? "instances" : asked.table().tenantId();
    if (!answer.has(key) || !form.isDynamo() && answer.size() != 1) {
      throw new AssertionError(asked + " " + form + ": " + answer);
    }
    answer
        .path(key)
        .fields()
        .forEachRemaining(
            row -> {
              if (row.getValue().path("longest_matched").asInt() > 0) {
                found.add(row.getKey());
              }
            });
    return found;
  }

  private static Set<String> tiered(JsonNode answer) {
    Set<String> found = new TreeSet<>();
    for (JsonNode score : answer.at("/tiered/device/scores")) {
      found.add(score.at("/0/worker_id").asText());
    }
    if (!answer.at("/tiered/lower_tier").isEmpty()) {
      throw new AssertionError(answer.toString());
    }
    return found;
  }

  private ObjectNode json(HeldContext asked, Form form) {
    ObjectNode body = Api.JSON.createObjectNode();
    names(asked, form).forEach(body::put);
    if (asked.loraId() != null && !form.isDynamo()) {
      body.put("lora_id", asked.loraId());
    }
    body.put("block_size", asked.table().blockSize());
    if (!form.isByHash()) {
      ArrayNode tokens = body.putArray("token_ids");
      for (int token : prompt) {
        tokens.add(token);
      }
      return body;
    }
    ArrayNode hashes = body.putArray(form.isDynamo() ? "block_hashes" : "seq_hashes");
    for (long hash : hashes(asked, form)) {
      hashes.add(new BigInteger(Long.toUnsignedString(hash)));
    }
    return body;
  }

  private Map<String, String> names(HeldContext asked, Form form) {
    Map<String, String> names = new java.util.LinkedHashMap<>();
    names.put(form.isDynamo() ? "model_name" : "model", asked.table().model());
    names.put("tenant_id", asked.table().tenantId());
    // Empty and absent are the same; which of them comes is chance.
    int chance = asked.instance().hashCode();
    boolean byNumber = asked.loraId() != null && !form.isDynamo();
    if (!byNumber && (!asked.adapter().isEmpty() || chance % 2 == 0)) {
      names.put("lora_name", asked.adapter());
    }
    boolean inHashes = form.isDynamo() && form.isByHash();
    if (!inHashes && (!asked.cacheSalt().isEmpty() || chance % 3 == 0)) {
      names.put("cache_salt", asked.cacheSalt());
    }
    return names;
  }

  private String parameters(HeldContext asked, Form form) {
    Map<String, String> names = names(asked, form);
    if (asked.loraId() != null && !form.isDynamo()) {
      names.put("lora_id", asked.loraId().toString());
    }
    names.put("block_size", "" + asked.table().blockSize());
    return names.entrySet().stream()
        .map(one -> one.getKey() + "=" + URLEncoder.encode(one.getValue(), StandardCharsets.UTF_8))
        .collect(Collectors.joining("&", "?", ""));
  }

  private long[] hashes(HeldContext asked, Form form) {
    return form.isDynamo() ? asked.locals(prompt) : asked.prefixes(prompt);
  }

  private byte[] octets(HeldContext asked, Form form) {
    if (form.isByHash()) {
      long[] hashes = hashes(asked, form);
      ByteBuffer octets = little(Long.BYTES * hashes.length);
      octets.asLongBuffer().put(hashes);
      return octets.array();
    }
    ByteBuffer octets = little(Integer.BYTES * prompt.length);
    octets.asIntBuffer().put(prompt);
    return octets.array();
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private Set<String> binary(HeldContext asked, Form form) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      Map<String, String> names = names(asked, form);
      names.put("lora_name", asked.adapter());
      out.packMapHeader(names.size() + 2);
      for (Map.Entry<String, String> one : names.entrySet()) {
        out.packString(one.getKey()).packString(one.getValue());
      }
      out.packString("block_size").packInt(asked.table().blockSize());
      out.packString(form.isByHash() ? "seq_hashes" : "token_ids");
      if (form == Form.BINARY_BYTES) {
        byte[] octets = octets(asked, form);
        out.packBinaryHeader(octets.length).writePayload(octets);
      } else if (form.isByHash()) {
        long[] hashes = hashes(asked, form);
        out.packArrayHeader(hashes.length);
        for (long hash : hashes) {
          out.packLong(hash);
        }
      } else {
        out.packArrayHeader(prompt.length);
        for (int token : prompt) {
          out.packInt(token);
        }
      }
      byte[] answer = post(form.path(), out.toByteArray(), "application/msgpack");
      try (MessageUnpacker in = MessagePack.newDefaultUnpacker(answer)) {
        return matching(Api.JSON.readTree(in.unpackValue().toJson()), asked, form);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static JsonNode read(byte[] answer) {
    try {
      return Api.JSON.readTree(answer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private byte[] post(String path, byte[] body, String type) {
    try {
      HttpResponse<byte[]> answer =
          http.send(
              HttpRequest.newBuilder(URI.create(server.toString().replaceFirst("/$", "") + path))
                  .header("Content-Type", type)
                  .POST(BodyPublishers.ofByteArray(body))
                  .build(),
              BodyHandlers.ofByteArray());
      if (answer.statusCode() != 200) {
        throw new AssertionError(
            path
                + ": "
                + answer.statusCode()
                + " "
                + new String(answer.body(), StandardCharsets.UTF_8));
      }
      return answer.body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
