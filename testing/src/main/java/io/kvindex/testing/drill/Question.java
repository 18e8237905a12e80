// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.nio.charset.StandardCharsets;

/**
 * What a router asks.
 *
 * @param table which engines are asked about
 */
record Question(Table table, Text text, int blocks) {

  private static final int CHARACTERS_A_TOKEN = 5;

  /** Body of {@code POST /query}. */
  byte[] body() {
    return json().getBytes(StandardCharsets.UTF_8);
  }

  String json() {
    int[] tokens = text.tokens(blocks);
    StringBuilder body = new StringBuilder(tokens.length * CHARACTERS_A_TOKEN + 100);
    body.append("{\"model\":\"")
        .append(table.model())
        .append("\",\"block_size\":")
        .append(Text.BLOCK)
        .append(",\"token_ids\":[");
    for (int i = 0; i < tokens.length; i++) {
      body.append(i == 0 ? "" : ",").append(Integer.toUnsignedString(tokens[i]));
    }
    return body.append("]}").toString();
  }
}
