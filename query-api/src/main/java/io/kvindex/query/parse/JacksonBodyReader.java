// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.error.MalformedJson;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The reader that decides what a JSON query body means: every refusal of one is worded here, or in
 * {@link JacksonValues}. Streams, so a large array costs its own size only. Of a repeated member
 * the last one counts, as for both Conductor implementations.
 */
final class JacksonBodyReader {
  static final JsonFactory JSON = new JsonFactory();

  private final QueryForm form;
  private final QueryBody into;
  private final int maxItems;
  private final Set<String> present = new HashSet<>();
  private String group = "";
  private String tenant = "";

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
    into.dialect = JsonDialect.of(text, from, length, form);
    if (length == 0) {
      throw ErrorCode.INVALID_JSON.because("the request body is empty");
    }
    try (JsonParser json = JSON.createParser(text, from, length)) {
      new JacksonBodyReader(form, maxItems, into).readRoot(json);
    } catch (IOException e) {
      throw MalformedJson.of(e);
    }
  }

  private void readRoot(JsonParser json) throws IOException {
    if (json.nextToken() != JsonToken.START_OBJECT) {
      throw ErrorCode.INVALID_JSON.because("the request body must be a JSON object");
    }
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      if (json.nextToken() == JsonToken.VALUE_NULL) {
        // The same as absent, also where it overrides an earlier value of the same member.
        if (present.remove(name)) {
          member(json, name);
        }
      } else {
        present.add(name);
        member(json, name);
      }
    }
    if (json.nextToken() != null) {
      throw ErrorCode.INVALID_JSON.because("unexpected text after the JSON object");
    }
    if (into.dialect == Dialect.DYNAMO) {
      checkDynamos();
    } else {
      checkConductors();
    }
    into.tenant = tenant.isEmpty() ? QueryBody.DEFAULT_TENANT : tenant;
  }

  /** Takes a member's value; null takes an earlier one back. */
  private void member(JsonParser json, String name) throws IOException {
    switch (name) {
      case "block_size" -> into.blockSize = JacksonValues.blockSize(json);
      case "tenant_id" -> tenant = JacksonValues.text(json, name);
      case "lora_name" -> into.loraName = JacksonValues.text(json, name);
      case "cache_salt", "additionalsalt" -> into.cacheSalt = JacksonValues.text(json, name);
      case MinEvent.FIELD -> into.minEvent = JacksonValues.minEvent(json);
      case "token_ids" -> items(json, name, true);
      default -> {
        if (into.dialect == Dialect.DYNAMO) {
          dynamosMember(json, name);
        } else {
          conductorsMember(json, name);
        }
      }
    }
  }

  /** Of the conductor dialect alone. Source: references 000 and 002. */
  private void conductorsMember(JsonParser json, String name) throws IOException {
    switch (name) {
      case "model", "modelname" -> into.model = JacksonValues.text(json, name);
      case "lora_id" -> into.loraId = JacksonValues.loraId(json);
      case "instance_id" -> {
        String instance = JacksonValues.text(json, name);
        into.instanceId = instance.isEmpty() ? null : instance;
      }
      case "seq_hashes", "block_hash" -> items(json, name, false);
      default -> json.skipChildren();
    }
  }

  /**
   * Of Dynamo's dialect alone; members it does not know are ignored. {@code tenant_id} is what
   * {@code routing_group} was called before v1.3. Source: reference 003; the routes of its v1.5.
   */
  private void dynamosMember(JsonParser json, String name) throws IOException {
    switch (name) {
      case "model_name" -> into.model = JacksonValues.text(json, name);
      case "routing_group" -> group = JacksonValues.text(json, name);
      case "block_hashes" -> items(json, name, false);
      default -> json.skipChildren();
    }
  }

  /** What only all members together tell. */
  private void checkConductors() {
    oneOf("model", "modelname");
    requireModel(has("modelname") ? "modelname" : "model");
    oneOf("cache_salt", "additionalsalt");
    if (into.loraId != QueryBody.NO_LORA_ID && !into.loraName.isEmpty()) {
      throw ErrorCode.both("lora_id", "lora_name", "lora_id");
    }
    if (form == QueryForm.TOKENS) {
      require("token_ids");
      return;
    }
    if (has("block_hashes")) {
      throw ErrorCode.UNKNOWN_FIELD.of(
          "block_hashes", "`block_hashes`: did you mean `seq_hashes`?");
    }
    oneOf("seq_hashes", "block_hash");
    if (!has("block_hash")) {
      require("seq_hashes");
    }
  }

  /** The same in Dynamo's dialect. */
  private void checkDynamos() {
    if (has("model") || has("modelname")) {
      throw ErrorCode.both("model", "model_name", "model_name");
    }
    requireModel("model_name");
    if (!group.isEmpty() && !tenant.isEmpty() && !group.equals(tenant)) {
      throw ErrorCode.CONFLICTING_FIELDS.of(
          "tenant_id", "`routing_group` and `tenant_id` name the same thing and differ");
    }
    tenant = group.isEmpty() ? tenant : group;
    if (form == QueryForm.TOKENS) {
      require("token_ids");
      return;
    }
    if (!into.cacheSalt.isEmpty()) {
      throw ErrorCode.UNSUPPORTED.of(
          "cache_salt",
          "cache_salt is not accepted by " + form.path() + "; mix it into the block hashes");
    }
    require("block_hashes");
  }

  private void items(JsonParser json, String name, boolean tokens) throws IOException {
    boolean isNull = json.currentToken() == JsonToken.VALUE_NULL;
    if (isNull || tokens != (form == QueryForm.TOKENS)) {
      json.skipChildren();
    } else {
      JacksonValues.items(json, name, form, maxItems, into);
    }
  }

  private boolean has(String name) {
    return present.contains(name);
  }

  private void require(String name) {
    if (!has(name)) {
      throw ErrorCode.missing(name);
    }
  }

  private void requireModel(String name) {
    if (into.model.isEmpty()) {
      throw ErrorCode.MISSING.member(name, has(name) ? "must not be empty" : "is missing");
    }
  }

  private void oneOf(String one, String other) {
    if (has(one) && has(other)) {
      throw ErrorCode.both(one, other, other);
    }
  }
}
