// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.io.IOException;

/**
 * Query bodies of Dynamo's dialect; members it does not know are ignored. {@code tenant_id} is what
 * {@code routing_group} was called before v1.3. Source: reference 003; the routes of its v1.5.
 */
final class DynamoBodyReader extends JacksonBodyReader {
  private String group = "";
  private String tenant = "";

  DynamoBodyReader(QueryForm form, int maxItems, QueryBody into) {
    super(form, maxItems, into);
  }

  @Override
  void member(JsonParser json, String name) throws IOException {
    switch (name) {
      case "model_name" -> into.model = JacksonValues.text(json, name);
      case "block_size" -> into.blockSize = JacksonValues.blockSize(json);
      case "routing_group" -> group = JacksonValues.text(json, name);
      case "tenant_id" -> tenant = JacksonValues.text(json, name);
      case "lora_name" -> into.loraName = JacksonValues.text(json, name);
      case "cache_salt", "additionalsalt" -> into.cacheSalt = JacksonValues.text(json, name);
      case MinEventReader.FIELD -> into.minEvent = MinEventReader.read(json);
      case "token_ids" -> items(json, name, true);
      case "block_hashes" -> items(json, name, false);
      default -> json.skipChildren();
    }
  }

  @Override
  void absent(String name) {
    switch (name) {
      case "model_name" -> into.model = "";
      case "block_size" -> into.blockSize = QueryBody.NO_BLOCK_SIZE;
      case "routing_group" -> group = "";
      case "tenant_id" -> tenant = "";
      case "lora_name" -> into.loraName = "";
      case "cache_salt", "additionalsalt" -> into.cacheSalt = "";
      case MinEventReader.FIELD -> into.minEvent = null;
      default -> {}
    }
  }

  @Override
  void checkTogether() {
    if (has("model") || has("modelname")) {
      throw ApiException.field(
          ErrorCode.CONFLICTING_FIELDS,
          "model_name",
          "use either `model` or `model_name`, not both");
    }
    requireModel("model_name");
    if (!group.isEmpty() && !tenant.isEmpty() && !group.equals(tenant)) {
      throw ApiException.field(
          ErrorCode.CONFLICTING_FIELDS,
          "tenant_id",
          "`routing_group` and `tenant_id` name the same thing and differ");
    }
    String named = group.isEmpty() ? tenant : group;
    into.tenant = named.isEmpty() ? QueryBody.DEFAULT_TENANT : named;
    if (form == QueryForm.TOKENS) {
      require("token_ids");
      return;
    }
    if (!into.cacheSalt.isEmpty()) {
      throw ApiException.field(
          ErrorCode.UNSUPPORTED,
          "cache_salt",
          "cache_salt is not accepted by " + form.path() + "; mix it into the block hashes");
    }
    require("block_hashes");
  }
}
