// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.PublisherId;
import picocli.CommandLine.Option;

/** Which publisher a command speaks of. */
final class PublisherOptions {

  @Option(
      names = "--instance",
      required = true,
      paramLabel = "ID",
      description = "Instance as routers know it, for example vllm-1.")
  private String instance;

  @Option(
      names = "--tenant",
      paramLabel = "ID",
      description = "Tenant (default: ${DEFAULT-VALUE}).",
      defaultValue = PublisherId.DEFAULT_TENANT)
  private String tenant;

  @Option(
      names = "--dp-rank",
      paramLabel = "N",
      description = "Data-parallel rank (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private int rank;

  @Option(
      names = "--lora",
      paramLabel = "NAME",
      description = "LoRA adapter (default: base model).")
  private String lora;

  ObjectNode toJson() {
    ObjectNode body = ApiClient.JSON.createObjectNode();
    body.put("instance_id", instance).put("tenant_id", tenant).put("dp_rank", rank);
    if (lora != null) {
      body.put("lora_name", lora);
    }
    return body;
  }
}
