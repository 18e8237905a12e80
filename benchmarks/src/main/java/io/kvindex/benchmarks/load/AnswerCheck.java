// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Compares answers with the numbers the {@link LoadShape} demands of every instance. */
final class AnswerCheck {
  private final LoadShape shape;

  AnswerCheck(LoadShape shape) {
    this.shape = shape;
  }

  /** What is wrong with an answer, null when all numbers of all instances are right. */
  @Nullable String difference(int prompt, JsonNode answer) {
    JsonNode rows = answer.path("default");
    if (rows.size() != shape.instances()) {
      return "prompt " + prompt + ": " + rows.size() + " instances in the answer";
    }
    for (int i = 0; i < shape.instances(); i++) {
      JsonNode row = rows.path(LoadShape.instanceName(i));
      int longest = shape.longest(prompt, i);
      int device = shape.onDevice(prompt, i);
      if (row.path("longest_matched").asInt(-1) != longest
          || row.path("GPU").asInt(-1) != device
          || row.path("CPU").asInt(-1) != longest - device
          || row.path("DISK").asInt(-1) != 0
          || row.path("DP").path("0").asInt(-1) != longest) {
        return String.format(
            Locale.ROOT,
            "prompt %d, %s: expected longest %d, GPU %d, got %s",
            prompt,
            LoadShape.instanceName(i),
            longest,
            device,
            row);
      }
    }
    return null;
  }
}
