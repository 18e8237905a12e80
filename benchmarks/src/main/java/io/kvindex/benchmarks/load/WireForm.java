// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a query looks like on the wire: every dialect and form the server takes. */
enum WireForm {
  JSON("/query", "model", Encoding.JSON, Items.TOKENS, AnswerShape.CONDUCTOR),
  OCTETS("/query", "model", Encoding.OCTETS, Items.TOKENS, AnswerShape.CONDUCTOR),
  HASHES("/query_by_hash", "model", Encoding.JSON, Items.SEQUENCE_HASHES, AnswerShape.CONDUCTOR),
  HASHES_OCTETS(
      "/query_by_hash", "model", Encoding.OCTETS, Items.SEQUENCE_HASHES, AnswerShape.CONDUCTOR),
  MSGPACK_BYTES("/query", "model", Encoding.PACKED_BYTES, Items.TOKENS, AnswerShape.BINARY),
  MSGPACK_ARRAY("/query", "model", Encoding.PACKED_ARRAY, Items.TOKENS, AnswerShape.BINARY),
  MSGPACK_HASHES(
      "/query_by_hash", "model", Encoding.PACKED_BYTES, Items.SEQUENCE_HASHES, AnswerShape.BINARY),
  DYNAMO("/query", "model_name", Encoding.JSON, Items.TOKENS, AnswerShape.SCORES),
  DYNAMO_HASHES(
      "/query_by_hash", "model_name", Encoding.JSON, Items.LOCAL_HASHES, AnswerShape.SCORES),
  DYNAMO_OCTETS(
      "/query_by_hash", "model_name", Encoding.OCTETS, Items.LOCAL_HASHES, AnswerShape.SCORES),
  DYNAMO_TIERED(
      "/query_tiered_by_hash", "model_name", Encoding.JSON, Items.LOCAL_HASHES, AnswerShape.TIERS),
  BATCH("/query_batch", "model", Encoding.JSON, Items.TOKENS, AnswerShape.CONDUCTOR);

  /** Prompts of one {@link #BATCH}. */
  private static final int BATCHED = 16;

  /** What stands for a block of the prompt. */
  enum Items {
    TOKENS("token_ids", LoadShape.BLOCK_SIZE, Integer.BYTES),
    SEQUENCE_HASHES("seq_hashes", 1, Long.BYTES),
    LOCAL_HASHES("block_hashes", 1, Long.BYTES);

    final String member;
    final int perBlock;
    final int bytes;

    Items(String member, int perBlock, int bytes) {
      this.member = member;
      this.perBlock = perBlock;
      this.bytes = bytes;
    }
  }

  /** How they are written. */
  enum Encoding {
    JSON("application/json"),
    OCTETS("application/octet-stream"),
    PACKED_BYTES("application/msgpack"),
    PACKED_ARRAY("application/msgpack");

    final String contentType;

    Encoding(String contentType) {
      this.contentType = contentType;
    }
  }

  private final String path;
  private final String modelMember;
  private final Encoding encoding;
  private final Items items;
  private final AnswerShape answer;

  WireForm(String path, String modelMember, Encoding encoding, Items items, AnswerShape answer) {
    this.path = path;
    this.modelMember = modelMember;
    this.encoding = encoding;
    this.items = items;
    this.answer = answer;
  }

  /** As the command line has it: {@code msgpack-bytes}. */
  String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** From labels with commas between them, or {@code all}. */
  static List<WireForm> parse(String labels) {
    if (labels.equals("all")) {
      return List.of(values());
    }
    List<WireForm> forms = new ArrayList<>();
    for (String label : labels.split(",", -1)) {
      forms.add(
          Arrays.stream(values())
              .filter(form -> form.label().equals(label))
              .findFirst()
              .orElseThrow(
                  () -> new IllegalArgumentException("no form " + label + "; known: " + known())));
    }
    return forms;
  }

  private static String known() {
    return Arrays.stream(values()).map(WireForm::label).collect(Collectors.joining(", "));
  }

  int promptsARequest() {
    return this == BATCH ? BATCHED : 1;
  }

  Items items() {
    return items;
  }

  AnswerShape answer() {
    return answer;
  }

  /** The request's head up to the length of its body. */
  String head(String host) {
    String parameters =
        encoding == Encoding.OCTETS
            ? "?" + modelMember + "=" + LoadShape.MODEL + "&block_size=" + LoadShape.BLOCK_SIZE
            : "";
    return "POST "
        + path
        + parameters
        + " HTTP/1.1\r\nHost: "
        + host
        + "\r\nContent-Type: "
        + encoding.contentType
        + "\r\nContent-Length: ";
  }

  /** Writes what stands in front of a prompt of so many items. */
  void open(RequestBytes out, int count) {
    switch (encoding) {
      case JSON ->
          out.text("{\"" + modelMember + "\":\"" + LoadShape.MODEL + "\",\"block_size\":")
              .text(LoadShape.BLOCK_SIZE + ",\"" + items.member + "\":[");
      case OCTETS -> {}
      case PACKED_BYTES, PACKED_ARRAY -> {
        out.octet(0x83).packed(modelMember).packed(LoadShape.MODEL);
        out.packed("block_size").octet(LoadShape.BLOCK_SIZE).packed(items.member);
        if (encoding == Encoding.PACKED_BYTES) {
          out.octet(0xc6).bigEndian(count * items.bytes);
        } else {
          out.octet(0xdd).bigEndian(count);
        }
      }
    }
  }

  /**
   * Writes one token or hash.
   *
   * @param first whether none stands before it in the prompt
   */
  void item(RequestBytes out, long value, boolean first) {
    switch (encoding) {
      case JSON -> (first ? out : out.text(",")).text(Long.toUnsignedString(value));
      case OCTETS, PACKED_BYTES -> out.littleEndian(value, items.bytes);
      case PACKED_ARRAY -> out.packed(value);
    }
  }

  /** Writes what stands behind a prompt. */
  void close(RequestBytes out) {
    if (encoding == Encoding.JSON) {
      out.text("]}");
    }
  }
}
