// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.reply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.http.Context;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Answers that are trees: JSON, or MessagePack in the binary dialect. Stateless. */
public final class ControlReplies {
  /** Content-Type of MessagePack bodies. */
  public static final String MSGPACK = "application/msgpack";

  private static final @Nullable String NO_CHARSET = null;

  private ControlReplies() {}

  /** An empty object to fill. */
  public static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** A number whose 64 bits are unsigned. */
  public static BigInteger unsigned(long bits) {
    return new BigInteger(Long.toUnsignedString(bits));
  }

  /** Answers in the dialect of the request. */
  public static void send(Context ctx, JsonNode body) {
    send(ctx, RequestDialect.of(ctx), body);
  }

  /** Answers in a dialect. */
  public static void send(Context ctx, Dialect dialect, JsonNode body) {
    boolean binary = dialect == Dialect.BINARY;
    ctx.contentType(binary ? MSGPACK : "application/json").result(encoded(body, dialect));
    if (binary) {
      ctx.res().setCharacterEncoding(NO_CHARSET); // else the server adds one to the type
    }
  }

  /** The body of every refusal: {@code {"error","reason","field"?,"index"?}}. */
  public static ObjectNode of(ApiException refusal, Dialect dialect) {
    String reason = refusal.code().reason(dialect);
    ObjectNode body = object();
    body.put("error", Objects.requireNonNullElse(refusal.getMessage(), reason));
    body.put("reason", reason);
    if (refusal.field() != null) {
      body.put("field", refusal.field());
    }
    if (refusal.index() != ErrorCode.NO_INDEX) {
      body.put("index", refusal.index());
    }
    return body;
  }

  /** A tree's bytes in a dialect. */
  public static byte[] encoded(JsonNode body, Dialect dialect) {
    if (dialect != Dialect.BINARY) {
      return body.toString().getBytes(StandardCharsets.UTF_8);
    }
    MsgpackBuffer out = new MsgpackBuffer();
    pack(body, out);
    return out.toBytes();
  }

  private static void pack(JsonNode node, MsgpackBuffer out) {
    switch (node.getNodeType()) {
      case OBJECT -> {
        out.map(node.size());
        node.fields()
            .forEachRemaining(
                member -> {
                  out.string(member.getKey());
                  pack(member.getValue(), out);
                });
      }
      case ARRAY -> {
        out.array(node.size());
        node.forEach(element -> pack(element, out));
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
