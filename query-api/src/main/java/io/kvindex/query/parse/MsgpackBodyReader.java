// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.MsgpackCursor.Kind;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Query bodies of the binary dialect: a MessagePack map whose every member must be known. Of a
 * repeated member the last one counts; what follows the map is not looked at. Allocates nothing for
 * a body like the one before it. Reused; one thread at a time. Source: Mooncake Conductor, C++
 * server at 19ffa6e4a; {@code /query_by_hash} and {@code min_event} are not there and follow {@code
 * /query} and JSON.
 */
final class MsgpackBodyReader {

  private enum Field {
    MODEL("model"),
    BLOCK_SIZE("block_size"),
    TOKEN_IDS("token_ids"),
    SEQ_HASHES("seq_hashes"),
    TENANT_ID("tenant_id"),
    LORA_NAME("lora_name"),
    CACHE_SALT("cache_salt"),
    INSTANCE_ID("instance_id"),
    MIN_EVENT(MinEvent.FIELD);

    private static final Field[] ALL = values();
    private final String text;
    private final byte[] bytes;

    Field(String text) {
      this.text = text;
      bytes = text.getBytes(StandardCharsets.US_ASCII);
    }

    int bit() {
      return 1 << ordinal();
    }
  }

  private final MsgpackCursor in = new MsgpackCursor();
  private final MsgpackValues values = new MsgpackValues(Field.ALL.length);
  private final int maxItems;

  MsgpackBodyReader(int maxItems) {
    this.maxItems = maxItems;
  }

  /**
   * @throws ApiException for every body that is no valid query
   */
  void read(byte[] body, int length, QueryForm form, QueryBody into) {
    into.reset();
    into.dialect = Dialect.BINARY;
    if (form == QueryForm.TIERED) {
      throw ErrorCode.NOT_FOUND.because(
          "no such path for msgpack: " + form.path() + "; it takes JSON");
    }
    in.begin(body, length);
    try {
      readRoot(form, into);
    } catch (ApiException refusal) {
      // A body that cannot be read to its end is refused for that, whatever its members say.
      in.begin(body, length);
      in.skip();
      throw refusal;
    }
  }

  private void readRoot(QueryForm form, QueryBody into) {
    if (in.kind() != Kind.MAP) {
      throw MsgpackCursor.notAMap();
    }
    Field items = form == QueryForm.TOKENS ? Field.TOKEN_IDS : Field.SEQ_HASHES;
    int seen = 0;
    for (int left = in.mapLength(); left > 0; left--) {
      Field field = field(items);
      seen |= field.bit();
      value(field, into);
    }
    require(Field.MODEL, seen);
    require(Field.BLOCK_SIZE, seen);
    require(items, seen);
    if (into.model.isEmpty()) {
      throw ErrorCode.INVALID_VALUE.member("model", "must not be empty");
    }
  }

  private static void require(Field field, int seen) {
    if ((seen & field.bit()) == 0) {
      throw ErrorCode.missing(field.text);
    }
  }

  private Field field(Field items) {
    if (in.kind() != Kind.STRING) {
      throw MsgpackValues.noName(in);
    }
    int length = in.byteLength();
    int from = in.at();
    in.moveTo(from + length);
    for (Field field : Field.ALL) {
      byte[] name = field.bytes;
      if (Arrays.equals(name, 0, name.length, in.bytes(), from, from + length)) {
        boolean other = field == Field.TOKEN_IDS || field == Field.SEQ_HASHES;
        if (!other || field == items) {
          return field;
        }
      }
    }
    throw MsgpackValues.unknown(new String(in.bytes(), from, length, StandardCharsets.UTF_8));
  }

  private void value(Field field, QueryBody into) {
    switch (field) {
      case TOKEN_IDS -> MsgpackItems.tokens(in, field.text, maxItems, into);
      case SEQ_HASHES -> MsgpackItems.hashes(in, field.text, maxItems, into);
      case BLOCK_SIZE -> into.blockSize = MsgpackValues.blockSize(in, field.text);
      case CACHE_SALT -> {
        boolean none = in.kind() == Kind.NIL;
        into.cacheSalt = none ? "" : text(field);
        if (none) {
          in.nil();
        }
      }
      case MODEL -> into.model = text(field);
      case LORA_NAME -> into.loraName = text(field);
      case TENANT_ID -> {
        String tenant = text(field);
        into.tenant = tenant.isEmpty() ? QueryBody.DEFAULT_TENANT : tenant;
      }
      case INSTANCE_ID -> {
        String instance = text(field);
        into.instanceId = instance.isEmpty() ? null : instance;
      }
      case MIN_EVENT -> into.minEvent = MsgpackValues.minEvent(in);
    }
  }

  private String text(Field field) {
    return values.text(in, field.text, field.ordinal());
  }
}
