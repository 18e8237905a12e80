// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/** The payload samples of all producers, see {@code vectors/wire}. */
public final class WireVectors {

  /** Not sent over ZMQ: {@code kvindex ingest} reads it, and its tests have these samples. */
  private static final Set<String> NOT_ON_THE_WIRE = Set.of("trtllm-json");

  private WireVectors() {}

  /**
   * One sample.
   *
   * @param expected normalised events, or the error
   */
  public record Vector(String name, String engine, String hex, JsonNode expected) {
    /** Its bytes. */
    public byte[] payload() {
      return HexFormat.of().parseHex(hex);
    }

    /** The decoder a registration of that producer gets. */
    public EngineDecoder decoder() {
      return switch (engine) {
        case "sglang" -> EngineDecoder.SGLANG;
        case "rfc1527" -> EngineDecoder.STANDARD;
        case "mooncake" -> EngineDecoder.MOONCAKE;
        default -> EngineDecoder.VLLM;
      };
    }

    /** Whether decoders are to read all of it. */
    public boolean complete() {
      return !NOT_ON_THE_WIRE.contains(engine);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** All samples. */
  public static List<Vector> all() {
    List<Vector> vectors = new ArrayList<>();
    for (JsonNode node : resource("index.json").get("vectors")) {
      vectors.add(
          new Vector(
              node.get("name").asText(),
              node.get("engine").asText(),
              node.get("hex").asText(),
              node.get("expected")));
    }
    return vectors;
  }

  static JsonNode resource(String name) {
    try (InputStream in = WireVectors.class.getResourceAsStream("/vectors/wire/" + name)) {
      return new ObjectMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
