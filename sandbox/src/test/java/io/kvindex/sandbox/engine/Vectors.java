// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;

/** Test vectors from the class path. */
final class Vectors {
  private Vectors() {}

  static JsonNode read(String name) {
    try (InputStream in = Vectors.class.getResourceAsStream("/vectors/" + name)) {
      return new ObjectMapper().readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(name, e);
    }
  }

  /** Token ids, unsigned 32 bits. */
  static int[] ints(JsonNode array) {
    int[] ints = new int[array.size()];
    for (int i = 0; i < ints.length; i++) {
      ints[i] = (int) array.get(i).asLong();
    }
    return ints;
  }

  static byte[] bytes(JsonNode hex) {
    return HexFormat.of().parseHex(hex.asText());
  }

  /** The payload of one vector of the wire index. */
  static byte[] payload(String name) {
    for (JsonNode vector : read("wire-index.json").get("vectors")) {
      if (vector.get("name").asText().equals(name)) {
        return bytes(vector.get("hex"));
      }
    }
    throw new IllegalArgumentException("no vector " + name);
  }
}
