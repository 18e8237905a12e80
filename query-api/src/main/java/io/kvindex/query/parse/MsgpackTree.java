// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.MsgpackCursor.Kind;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * Small MessagePack bodies as a tree, for routes that are not hot. Of a repeated member the first
 * one counts, as in registrations of the C++ Conductor.
 */
public final class MsgpackTree {
  private static final int MAX_DEPTH = 16;

  private final MsgpackCursor in = new MsgpackCursor();

  private MsgpackTree() {}

  /**
   * Reads a map; what follows it is not looked at.
   *
   * @throws ApiException for what is malformed or no map
   */
  public static ObjectNode read(byte[] body) {
    MsgpackTree tree = new MsgpackTree();
    tree.in.begin(body, body.length);
    tree.in.skip(); // so that nothing below can end in the middle
    tree.in.begin(body, body.length);
    if (tree.in.kind() != Kind.MAP) {
      throw MsgpackCursor.notAMap();
    }
    return tree.map(0);
  }

  private JsonNode value(String field, int depth) {
    if (depth > MAX_DEPTH) {
      throw ErrorCode.INVALID_MSGPACK.because("nested deeper than " + MAX_DEPTH + " levels");
    }
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    return switch (in.kind()) {
      case INTEGER -> {
        long value = in.integer();
        yield in.isUnsigned()
            ? nodes.numberNode(new BigInteger(Long.toUnsignedString(value)))
            : nodes.numberNode(value);
      }
      case FLOAT -> nodes.numberNode(in.real());
      case STRING -> nodes.textNode(MsgpackValues.whole(in, in.string(), field));
      case BOOL -> nodes.booleanNode(in.bool());
      case MAP -> map(depth);
      case ARRAY -> array(field, depth);
      case NIL -> {
        in.nil();
        yield nodes.nullNode();
      }
      case BINARY, EXTENSION, NEVER -> {
        int from = in.at();
        in.skip();
        yield nodes.binaryNode(Arrays.copyOfRange(in.bytes(), from, in.at()));
      }
    };
  }

  private ObjectNode map(int depth) {
    ObjectNode map = JsonNodeFactory.instance.objectNode();
    for (int left = in.mapLength(); left > 0; left--) {
      String name = MsgpackValues.name(in);
      JsonNode value = value(ErrorCode.echo(name), depth + 1);
      if (!map.has(name)) {
        map.set(name, value);
      }
    }
    return map;
  }

  private ArrayNode array(String field, int depth) {
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    for (int left = in.arrayLength(); left > 0; left--) {
      array.add(value(field, depth + 1));
    }
    return array;
  }
}
