// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The file itself; what the server makes of it is {@link OpenApiContractIT}'s. */
class OpenApiFileTest {
  private final OpenApiFile file = OpenApiFile.load();

  @Test
  void shouldBeValid_whenReadAsOpenApi() {
    JsonNode openApi = OpenApiFile.resource("/openapi/oas-3.1-2022-10-07.json");
    assertThat(OpenApiFile.problems(openApi, file.root)).isEmpty();
  }

  @Test
  void shouldHaveValidSchemas_whenReadAsJsonSchema() {
    JsonNode meta =
        JsonNodeFactory.instance
            .objectNode()
            .put("$ref", "https://json-schema.org/draft/2020-12/schema");
    for (Map.Entry<String, JsonNode> one : file.root.at("/components/schemas").properties()) {
      assertThat(OpenApiFile.problems(meta, one.getValue())).as(one.getKey()).isEmpty();
    }
  }

  /** The three checks above can fail. */
  @Test
  void shouldFindProblems_whenThereAreSome() {
    ObjectNode broken = file.root.deepCopy();
    broken.withObject("/paths/~1query/post/responses/200").remove("description");
    JsonNode openApi = OpenApiFile.resource("/openapi/oas-3.1-2022-10-07.json");
    assertThat(OpenApiFile.problems(openApi, broken)).isNotEmpty();
    ObjectNode refusal = JsonNodeFactory.instance.objectNode().put("error", "x");
    String schema = "/components/responses/Internal/content/application~1json/schema";
    assertThat(file.problems(schema, refusal)).hasSize(1);
    assertThat(file.problems(schema, refusal.put("reason", "missing"))).isEmpty();
    assertThat(file.problems(schema, refusal.put("other", 1))).hasSize(1);
  }

  @Test
  void shouldReferToWhatIsThere_whenItRefers() {
    List<String> missing = new ArrayList<>();
    for (JsonNode ref : file.root.findValues("$ref")) {
      if (file.root.at(ref.textValue().substring(1)).isMissingNode()) {
        missing.add(ref.textValue());
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void shouldUseAllItDefines_whenItDefines() {
    Set<String> used = new TreeSet<>();
    file.root.findValues("$ref").forEach(ref -> used.add(ref.textValue()));
    Set<String> unused = new TreeSet<>();
    for (String kind : List.of("schemas", "responses", "headers", "parameters")) {
      file.root
          .at("/components/" + kind)
          .fieldNames()
          .forEachRemaining(name -> unused.add("#/components/" + kind + '/' + name));
    }
    unused.removeAll(used);
    // Every path answers these, so no operation has them of its own.
    assertThat(unused)
        .containsExactly(
            "#/components/responses/MethodNotAllowed", "#/components/responses/NotFound");
  }

  /** Examples of the answers no request can bring about; the others are held by the server. */
  @Test
  void shouldHaveValidExamples_whenTheyStandWithASchema() {
    int checked = check("/components/responses");
    for (OpenApiFile.Operation operation : file.operations()) {
      checked += check(operation.pointer() + "/responses");
    }
    assertThat(checked).isGreaterThan(100);
  }

  private int check(String responses) {
    int checked = 0;
    for (Map.Entry<String, JsonNode> response : file.root.at(responses).properties()) {
      String content = responses + '/' + response.getKey() + "/content";
      for (Map.Entry<String, JsonNode> media : file.root.at(content).properties()) {
        String schema = content + '/' + OpenApiFile.escaped(media.getKey()) + "/schema";
        for (Map.Entry<String, JsonNode> example : media.getValue().path("examples").properties()) {
          JsonNode value = example.getValue().path("value");
          assertThat(file.problems(schema, value)).as(schema + ' ' + example.getKey()).isEmpty();
          checked++;
        }
      }
    }
    return checked;
  }

  @Test
  void shouldHaveTheWholeCatalogue_whenTheServerRefuses() {
    Map<String, String> server = new TreeMap<>();
    for (ErrorCode code : ErrorCode.values()) {
      server.merge(code.reason(), statuses(code), (a, b) -> a.equals(b) ? a : a + '/' + b);
      if (!code.reason(Dialect.BINARY).equals(code.reason())) {
        server.put(code.reason(Dialect.BINARY), "msgpack " + code.status(Dialect.BINARY));
      }
    }
    Map<String, String> told = new TreeMap<>();
    for (Map.Entry<String, JsonNode> one : file.root.path("x-error-catalogue").properties()) {
      JsonNode entry = one.getValue();
      StringBuilder text = new StringBuilder(entry.path("status").asText());
      for (String dialect : List.of("dynamo", "msgpack")) {
        if (entry.has(dialect)) {
          text.append(text.isEmpty() ? "" : " ").append(dialect);
          text.append(' ').append(entry.path(dialect).asText());
        }
      }
      told.put(one.getKey(), text.toString());
      assertThat(entry.path("means").asText()).as(one.getKey()).isNotEmpty();
    }
    assertThat(told).isEqualTo(server);
    List<String> reasons = new ArrayList<>();
    file.root.at("/components/schemas/Reason/enum").forEach(one -> reasons.add(one.textValue()));
    assertThat(reasons).containsExactlyInAnyOrderElementsOf(server.keySet());
  }

  private static String statuses(ErrorCode code) {
    int dynamo = code.status(Dialect.DYNAMO);
    return code.status() + (dynamo == code.status() ? "" : " dynamo " + dynamo);
  }
}
