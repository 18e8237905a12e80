// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.io.IOException;

/** Query bodies of the conductor dialect. Source: references 000 and 002. */
final class ConductorBodyReader extends JacksonBodyReader {

  ConductorBodyReader(QueryForm form, int maxItems, QueryBody into) {
    super(form, maxItems, into);
  }

  @Override
  void member(JsonParser json, String name) throws IOException {
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
      case MinEventReader.FIELD -> into.minEvent = MinEventReader.read(json);
      case "token_ids" -> items(json, name, true);
      case "seq_hashes", "block_hash" -> items(json, name, false);
      default -> json.skipChildren();
    }
  }

  @Override
  void absent(String name) {
    switch (name) {
      case "block_size" -> into.blockSize = QueryBody.NO_BLOCK_SIZE;
      case "tenant_id" -> into.tenant = QueryBody.DEFAULT_TENANT;
      case "lora_name" -> into.loraName = "";
      case "lora_id" -> into.loraId = QueryBody.NO_LORA_ID;
      case "cache_salt", "additionalsalt" -> into.cacheSalt = "";
      case "instance_id" -> into.instanceId = null;
      case MinEventReader.FIELD -> into.minEvent = null;
      default -> {}
    }
  }

  @Override
  void checkTogether() {
    oneOf("model", "modelname");
    requireModel(has("modelname") ? "modelname" : "model");
    oneOf("cache_salt", "additionalsalt");
    if (into.loraId != QueryBody.NO_LORA_ID && !into.loraName.isEmpty()) {
      throw ApiException.field(
          ErrorCode.CONFLICTING_FIELDS, "lora_id", "use either `lora_id` or `lora_name`, not both");
    }
    if (form == QueryForm.TOKENS) {
      require("token_ids");
      return;
    }
    if (has("block_hashes")) {
      throw ApiException.field(
          ErrorCode.UNKNOWN_FIELD, "block_hashes", "`block_hashes`: did you mean `seq_hashes`?");
    }
    oneOf("seq_hashes", "block_hash");
    if (!has("block_hash")) {
      require("seq_hashes");
    }
  }
}
