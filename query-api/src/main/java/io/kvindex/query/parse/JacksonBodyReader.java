// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.error.MalformedJson;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The reader that decides what a query body means: every refusal of a query body is worded here or
 * in {@link JacksonValues}. Streams, so a large array costs its own size only. Of a repeated member
 * the last one counts, as for both Conductor implementations.
 */
final class JacksonBodyReader {
  private static final JsonFactory JSON = new JsonFactory();

  private final QueryForm form;
  private final int maxItems;
  private final QueryBody into;
  private final Set<String> present = new HashSet<>();

  private JacksonBodyReader(QueryForm form, int maxItems, QueryBody into) {
    this.form = form;
    this.maxItems = maxItems;
    this.into = into;
  }

  /**
   * @throws ApiException for every body that is no valid query
   */
  static void read(
      byte[] text, int from, int length, QueryForm form, int maxItems, QueryBody into) {
    into.reset();
    if (length == 0) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "the request body is empty");
    }
    try (JsonParser json = JSON.createParser(text, from, length)) {
      new JacksonBodyReader(form, maxItems, into).readRoot(json);
    } catch (JsonProcessingException e) {
      throw malformed(e);
    } catch (IOException e) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "the request body is no readable text");
    }
  }

  /** A syntax error in words for the client, with its place and without parser jargon. */
  static ApiException malformed(JsonProcessingException e) {
    String what = e.getOriginalMessage();
    int jargon = what.indexOf(" (start marker");
    what = ApiException.echo(jargon < 0 ? what : what.substring(0, jargon));
    return MalformedJson.at(e.getLocation(), what);
  }

  private void readRoot(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "the request body must be a JSON object");
    }
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      json.nextToken();
      member(json, name);
    }
    if (json.nextToken() != null) {
      throw ApiException.of(ErrorCode.INVALID_JSON, "unexpected text after the JSON object");
    }
    checkTogether();
  }

  private void member(JsonParser json, String name) throws IOException {
    if (json.currentToken() == JsonToken.VALUE_NULL) {
      absent(name);
      return;
    }
    present.add(name);
    switch (name) {
      case "model", "modelname" -> into.model = JacksonValues.text(json, name);
      case "block_size" -> into.blockSize = JacksonValues.blockSize(json);
      case "tenant_id" -> {
        String tenant = JacksonValues.text(json, name);
        into.tenant = tenant.isEmpty() ? QueryBody.DEFAULT_TENANT : tenant;
      }
      case "lora_name" -> into.loraName = JacksonValues.text(json, name);
      case "lora_id" -> into.loraId = JacksonValues.loraId(json);
      case "cache_salt", "additionalsalt" -> into.cacheSalt = JacksonValues.text(json, name);
      case "instance_id" -> {
        String instance = JacksonValues.text(json, name);
        into.instanceId = instance.isEmpty() ? null : instance;
      }
      case "token_ids" -> items(json, name, QueryForm.TOKENS);
      case "seq_hashes", "block_hash" -> items(json, name, QueryForm.HASHES);
      default -> json.skipChildren();
    }
  }

  /** null is the same as absent, also where it overrides an earlier value of the same member. */
  private void absent(String name) {
    if (!present.remove(name)) {
      return;
    }
    switch (name) {
      case "block_size" -> into.blockSize = QueryBody.NO_BLOCK_SIZE;
      case "tenant_id" -> into.tenant = QueryBody.DEFAULT_TENANT;
      case "lora_name" -> into.loraName = "";
      case "lora_id" -> into.loraId = QueryBody.NO_LORA_ID;
      case "cache_salt", "additionalsalt" -> into.cacheSalt = "";
      case "instance_id" -> into.instanceId = null;
      default -> {}
    }
  }

  private void items(JsonParser json, String name, QueryForm kind) throws IOException {
    if (kind != form) {
      json.skipChildren();
    } else {
      JacksonValues.items(json, name, kind, maxItems, into);
    }
  }

  private void checkTogether() {
    oneOf("model", "model_name");
    if (present.contains("model_name")) {
      throw ApiException.field(
          ErrorCode.UNSUPPORTED,
          "model_name",
          "queries with `model_name` are not served yet; name the model in `model`");
    }
    oneOf("model", "modelname");
    if (into.model.isEmpty()) {
      String given = present.contains("modelname") ? "modelname" : "model";
      throw missing(given, present.contains(given) ? "must not be empty" : "is missing");
    }
    oneOf("cache_salt", "additionalsalt");
    if (into.loraId != QueryBody.NO_LORA_ID && !into.loraName.isEmpty()) {
      throw ApiException.field(
          ErrorCode.CONFLICTING_FIELDS, "lora_id", "use either `lora_id` or `lora_name`, not both");
    }
    if (form == QueryForm.TOKENS) {
      require("token_ids");
      return;
    }
    if (present.contains("block_hashes")) {
      throw ApiException.field(
          ErrorCode.UNKNOWN_FIELD, "block_hashes", "`block_hashes`: did you mean `seq_hashes`?");
    }
    oneOf("seq_hashes", "block_hash");
    if (!present.contains("block_hash")) {
      require("seq_hashes");
    }
  }

  private void require(String name) {
    if (!present.contains(name)) {
      throw missing(name, "is missing");
    }
  }

  private static ApiException missing(String field, String what) {
    return ApiException.field(ErrorCode.MISSING, field, "`" + field + "` " + what);
  }

  private void oneOf(String one, String other) {
    if (present.contains(one) && present.contains(other)) {
      throw ApiException.field(
          ErrorCode.CONFLICTING_FIELDS,
          other,
          "use either `" + one + "` or `" + other + "`, not both");
    }
  }
}
