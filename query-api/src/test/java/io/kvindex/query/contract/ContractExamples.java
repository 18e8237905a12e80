// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.query.contract.OpenApiFile.Operation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The requests the examples of a file make. Those of one name belong together: body, parameters and
 * the one answer that has an example of that name.
 */
final class ContractExamples {
  private static final String ILLUSTRATION = "x-illustration";

  private final OpenApiFile file;

  /**
   * One request and what has to come of it.
   *
   * @param bodyType null = no body
   * @param parameters by {@code in}, then name
   * @param response where the answer stands in the file
   * @param answerType media type
   * @param answer the example
   */
  record Example(
      Operation operation,
      String name,
      @Nullable String bodyType,
      @Nullable JsonNode body,
      Map<String, Map<String, String>> parameters,
      int status,
      String response,
      String answerType,
      JsonNode answer) {
    @Override
    public String toString() {
      return operation.method() + ' ' + operation.path() + ' ' + name + " -> " + status;
    }
  }

  ContractExamples(OpenApiFile file) {
    this.file = file;
  }

  /** In the order of the file: what one registers the next may ask for. */
  List<Example> all() {
    List<Example> all = new ArrayList<>();
    for (Operation operation : file.operations()) {
      Map<String, JsonNode> bodies = new LinkedHashMap<>();
      Map<String, String> types = new LinkedHashMap<>();
      for (Map.Entry<String, JsonNode> content :
          operation.node().at("/requestBody/content").properties()) {
        for (Map.Entry<String, JsonNode> example :
            content.getValue().path("examples").properties()) {
          if (bodies.put(example.getKey(), example.getValue().path("value")) != null) {
            throw new AssertionError(operation.path() + " has two examples " + example.getKey());
          }
          types.put(example.getKey(), content.getKey());
        }
      }
      Map<String, Example> answers = answers(operation, types, bodies);
      if (operation.node().has("requestBody") && !answers.keySet().equals(bodies.keySet())) {
        throw new AssertionError(
            operation + ": asked " + bodies.keySet() + ", answered " + answers.keySet());
      }
      all.addAll(inOrder(answers, bodies));
    }
    return all;
  }

  private static List<Example> inOrder(Map<String, Example> answers, Map<String, JsonNode> bodies) {
    List<Example> ordered = new ArrayList<>();
    bodies.keySet().forEach(name -> ordered.add(answers.get(name)));
    return bodies.isEmpty() ? List.copyOf(answers.values()) : ordered;
  }

  private Map<String, Example> answers(
      Operation operation, Map<String, String> types, Map<String, JsonNode> bodies) {
    Map<String, Example> answers = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> response : operation.node().path("responses").properties()) {
      for (Map.Entry<String, JsonNode> content : response.getValue().path("content").properties()) {
        for (Map.Entry<String, JsonNode> example :
            content.getValue().path("examples").properties()) {
          if (example.getValue().path(ILLUSTRATION).asBoolean()) {
            continue;
          }
          String name = example.getKey();
          Example one =
              new Example(
                  operation,
                  name,
                  types.get(name),
                  bodies.get(name),
                  parameters(operation, name),
                  Integer.parseInt(response.getKey()),
                  operation.pointer() + "/responses/" + response.getKey(),
                  content.getKey(),
                  example.getValue());
          if (answers.put(name, one) != null) {
            throw new AssertionError(operation.path() + " has two answers " + name);
          }
        }
      }
    }
    return answers;
  }

  private Map<String, Map<String, String>> parameters(Operation operation, String name) {
    Map<String, Map<String, String>> found = new LinkedHashMap<>();
    JsonNode parameters = operation.node().path("parameters");
    for (int i = 0; i < parameters.size(); i++) {
      JsonNode parameter = file.root.at(file.followed(operation.pointer() + "/parameters/" + i));
      JsonNode example = parameter.path("examples").path(name).path("value");
      if (!example.isMissingNode()) {
        found
            .computeIfAbsent(parameter.path("in").asText(), in -> new LinkedHashMap<>())
            .put(parameter.path("name").asText(), example.asText());
      }
    }
    return found;
  }
}
