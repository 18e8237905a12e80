// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import com.fasterxml.jackson.databind.JsonNode;

/** A JSON tree as MessagePack: one answer for both kinds of clients. */
public final class PackedTree {
  private PackedTree() {}

  /** The encoded tree. */
  public static byte[] of(JsonNode tree) {
    MsgpackBuffer out = new MsgpackBuffer();
    write(tree, out);
    return out.toBytes();
  }

  private static void write(JsonNode node, MsgpackBuffer out) {
    switch (node.getNodeType()) {
      case OBJECT -> {
        out.map(node.size());
        node.fields()
            .forEachRemaining(
                member -> {
                  out.string(member.getKey());
                  write(member.getValue(), out);
                });
      }
      case ARRAY -> {
        out.array(node.size());
        node.forEach(element -> write(element, out));
      }
      case STRING -> out.string(node.textValue());
      case BOOLEAN -> out.bool(node.booleanValue());
      case NUMBER -> {
        if (node.isFloatingPointNumber()) {
          out.real(node.doubleValue());
        } else if (node.isBigInteger()) {
          out.unsigned(node.longValue());
        } else {
          out.number(node.longValue());
        }
      }
      default -> out.nil();
    }
  }
}
