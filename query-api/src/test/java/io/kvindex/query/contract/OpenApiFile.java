// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.contract;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.Error;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * {@code openapi.yaml} as it is packaged. Its schemas are closed here: a member that an answer has
 * and the file does not is an error, though clients must put up with it.
 */
final class OpenApiFile {
  private static final String URI = "https://kvindex.invalid/openapi";
  private static final Set<String> METHODS = Set.of("get", "put", "post", "delete");

  final JsonNode root;
  private final SchemaRegistry registry;

  /** One method of one path; {@code pointer} says where it stands. */
  record Operation(String path, String method, String pointer, JsonNode node) {}

  private OpenApiFile(JsonNode root) {
    this.root = root;
    ObjectNode closed = root.deepCopy();
    close(closed, false);
    registry =
        SchemaRegistry.withDefaultDialect(
            SpecificationVersion.DRAFT_2020_12,
            registry -> registry.schemas(Map.of(URI, closed.toString())));
  }

  static OpenApiFile load() {
    try (InputStream in = ContractRoutes.class.getResourceAsStream("openapi.yaml")) {
      return new OpenApiFile(new YAMLMapper().readTree(Objects.requireNonNull(in)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code data} is set inside of examples, which are no schemas. */
  private static void close(JsonNode node, boolean data) {
    if (node instanceof ObjectNode object && !data) {
      if (object.path("properties").isObject() && !object.has("additionalProperties")) {
        object.put("additionalProperties", false);
      }
    }
    node.fields()
        .forEachRemaining(one -> close(one.getValue(), data || one.getKey().equals("examples")));
    if (node.isArray()) {
      node.forEach(element -> close(element, data));
    }
  }

  List<Operation> operations() {
    List<Operation> all = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : root.path("paths").properties()) {
      for (Map.Entry<String, JsonNode> method : path.getValue().properties()) {
        if (METHODS.contains(method.getKey())) {
          String pointer = "/paths/" + escaped(path.getKey()) + '/' + method.getKey();
          all.add(
              new Operation(
                  path.getKey(),
                  method.getKey().toUpperCase(java.util.Locale.ROOT),
                  pointer,
                  method.getValue()));
        }
      }
    }
    return all;
  }

  /** Where a thing stands once its {@code $ref} is followed. */
  String followed(String pointer) {
    JsonNode ref = root.at(pointer).path("$ref");
    return ref.isTextual() ? followed(ref.textValue().substring(1)) : pointer;
  }

  /** What is wrong with a value by the schema that stands there. */
  List<Error> problems(String pointer, JsonNode value) {
    SchemaLocation place = SchemaLocation.of(URI + '#' + pointer);
    return registry.getSchema(place).validate(value);
  }

  /** The same by a schema of which a copy is in the test's resources, or that everybody knows. */
  static List<Error> problems(JsonNode schema, JsonNode value) {
    return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
        .getSchema(schema)
        .validate(value);
  }

  static JsonNode resource(String name) {
    try (InputStream in = OpenApiFile.class.getResourceAsStream(name)) {
      return new ObjectMapper().readTree(Objects.requireNonNull(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One step of a JSON pointer. */
  static String escaped(String name) {
    return name.replace("~", "~0").replace("/", "~1");
  }
}
