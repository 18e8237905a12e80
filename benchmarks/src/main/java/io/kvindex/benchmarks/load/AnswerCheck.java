// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Compares answers with what the {@link LoadShape} demands: every number, and nothing else. */
final class AnswerCheck {
  private final LoadShape shape;
  private final PromptBodies bodies;

  AnswerCheck(LoadShape shape, PromptBodies bodies) {
    this.shape = shape;
    this.bodies = bodies;
  }

  /** What is wrong with an answer, null when all numbers of all instances are right. */
  @Nullable String difference(int request, byte[] answer) throws IOException {
    WireForm form = bodies.form();
    JsonNode tree = form.answer().parse(answer);
    if (form.promptsARequest() == 1) {
      return difference(bodies.prompt(request, 0), tree);
    }
    JsonNode answers = tree.path("answers");
    if (answers.size() != form.promptsARequest()) {
      return "request " + request + ": " + answers.size() + " answers";
    }
    for (int i = 0; i < answers.size(); i++) {
      String difference = difference(bodies.prompt(request, i), answers.get(i).path("body"));
      if (difference != null || answers.get(i).path("status").asInt() != 200) {
        return "place " + i + " of request " + request + ": " + difference;
      }
    }
    return null;
  }

  private @Nullable String difference(int prompt, JsonNode answer) {
    JsonNode expected = bodies.form().answer().expected(shape, prompt);
    return expected.equals(answer) ? null : "prompt " + prompt + first(expected, answer);
  }

  /** The innermost place that differs. */
  private static String first(JsonNode expected, JsonNode got) {
    if (expected.isObject() && got.isObject() && expected.size() == got.size()) {
      Iterator<Map.Entry<String, JsonNode>> members = expected.fields();
      while (members.hasNext()) {
        Map.Entry<String, JsonNode> member = members.next();
        JsonNode there = got.path(member.getKey());
        if (!member.getValue().equals(there)) {
          return ", " + member.getKey() + first(member.getValue(), there);
        }
      }
    }
    return ": expected " + expected + ", got " + got;
  }
}
