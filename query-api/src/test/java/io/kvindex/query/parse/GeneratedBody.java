// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A random well-formed body together with what must be read from it. */
record GeneratedBody(String text, String expected) {

  /** In the conductor's dialect or in Dynamo's. */
  static GeneratedBody any(Random random, QueryForm form) {
    return form == QueryForm.TIERED || random.nextBoolean()
        ? dynamo(random, form)
        : next(random, form);
  }

  static GeneratedBody dynamo(Random random, QueryForm form) {
    List<String> members = new ArrayList<>();
    String model = "m" + random.nextInt(3);
    members.add(member("model_name", quoted(model)));
    int blockSize = random.nextBoolean() ? 1 + random.nextInt(1 << random.nextInt(1, 21)) : 0;
    optional(members, random, "block_size", blockSize == 0 ? null : "" + blockSize);
    String tenant = pick(random, "", "default", "acme");
    String tenantName = pick(random, "tenant_id", "routing_group");
    optional(members, random, tenantName, tenant.isEmpty() ? null : quoted(tenant));
    String lora = pick(random, "", "sql-adapter");
    optional(members, random, "lora_name", lora.isEmpty() ? null : quoted(lora));
    String salt = form == QueryForm.TOKENS ? pick(random, "", "w8a8") : "";
    String saltName = pick(random, "cache_salt", "additionalsalt");
    optional(members, random, saltName, salt.isEmpty() ? null : quoted(salt));
    if (random.nextInt(4) == 0) {
      members.add(member("stream", pick(random, "true", "-12", "\"x\"", "null")));
    }
    String items = items(random, form, "block_hashes", members);
    return whole(random, members, model, blockSize, tenant, lora, -1, salt, null, items);
  }

  static GeneratedBody next(Random random, QueryForm form) {
    List<String> members = new ArrayList<>();
    String model = "m" + random.nextInt(3);
    members.add(member(pick(random, "model", "modelname"), quoted(model)));
    int blockSize = random.nextBoolean() ? 1 + random.nextInt(1 << random.nextInt(1, 21)) : 0;
    optional(members, random, "block_size", blockSize == 0 ? null : "" + blockSize);
    String tenant = pick(random, "", "default", "acme");
    optional(members, random, "tenant_id", tenant.isEmpty() ? null : quoted(tenant));
    String lora = pick(random, "", "sql-adapter");
    optional(members, random, "lora_name", lora.isEmpty() ? null : quoted(lora));
    long loraId = lora.isEmpty() ? random.nextInt(4) - 1 : -1;
    optional(members, random, "lora_id", loraId < 0 && random.nextBoolean() ? null : "" + loraId);
    String salt = pick(random, "", "w8a8");
    String saltName = pick(random, "cache_salt", "additionalsalt");
    optional(members, random, saltName, salt.isEmpty() ? null : quoted(salt));
    String instance = random.nextInt(3) == 0 ? "vllm 1" : null;
    optional(members, random, "instance_id", instance == null ? null : quoted(instance));
    if (random.nextInt(4) == 0) {
      members.add(member("stream", pick(random, "true", "-12", "\"x\"", "null")));
    }
    if (random.nextInt(8) == 0) {
      members.add(member("min_event", "null"));
    }
    String items = items(random, form, pick(random, "seq_hashes", "block_hash"), members);
    return whole(random, members, model, blockSize, tenant, lora, loraId, salt, instance, items);
  }

  private static GeneratedBody whole(
      Random random,
      List<String> members,
      String model,
      int blockSize,
      String tenant,
      String lora,
      long loraId,
      String salt,
      @Nullable String instance,
      String items) {
    Collections.shuffle(members, random);
    String gap = pick(random, "", " ", "\n  ");
    String text = "{" + gap + String.join("," + gap, members) + pick(random, "}", " }\n");
    return new GeneratedBody(
        text,
        String.join(
            "|",
            model,
            "" + blockSize,
            tenant.isEmpty() ? "default" : tenant,
            lora,
            "" + loraId,
            salt,
            "" + instance,
            items));
  }

  private static String items(
      Random random, QueryForm form, String hashesName, List<String> members) {
    int count = random.nextInt(30);
    long[] values = new long[count];
    String[] texts = new String[count];
    for (int i = 0; i < count; i++) {
      if (form == QueryForm.TOKENS) {
        values[i] = random.nextLong() >>> 32 >>> random.nextInt(32);
        texts[i] = "" + values[i];
        values[i] = (int) values[i];
      } else {
        values[i] = random.nextLong() >>> random.nextInt(64);
        texts[i] = hash(random, values[i]);
      }
    }
    String array = "[" + String.join(pick(random, ",", ", "), texts) + "]";
    String name = form == QueryForm.TOKENS ? "token_ids" : hashesName;
    members.add(member(name, array));
    return Arrays.toString(values);
  }

  private static String hash(Random random, long bits) {
    return switch (random.nextInt(5)) {
      case 0 -> "" + bits;
      case 1 -> quoted("0x" + Long.toHexString(bits));
      case 2 -> quoted(Long.toUnsignedString(bits));
      case 3 -> quoted("" + bits);
      default -> Long.toUnsignedString(bits);
    };
  }

  private static void optional(
      List<String> members, Random random, String name, @Nullable String value) {
    if (value != null) {
      members.add(member(name, value));
    } else if (random.nextInt(4) == 0) {
      members.add(member(name, "null"));
    }
  }

  private static String member(String name, String value) {
    return quoted(name) + ": " + value;
  }

  private static String quoted(String text) {
    return "\"" + text + "\"";
  }

  private static String pick(Random random, String... choices) {
    return choices[random.nextInt(choices.length)];
  }
}
