// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.http.HttpSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mooncake Conductor's own configuration file, so that a site can switch without writing another
 * one.
 *
 * <p>Source: Mooncake Conductor Architecture, "Dynamic registration": {@code http_server_port} and
 * {@code kvevent_instance}, an object of registrations by instance name.
 *
 * @param httpPort port of the HTTP API
 * @param registrations entries in the file's order
 */
public record ConductorConfig(int httpPort, List<Entry> registrations) {

  /**
   * One registration of the file.
   *
   * @param name the entry's, for messages
   * @param body for {@code POST /register}, not looked at yet
   */
  public record Entry(String name, ObjectNode body) {}

  private static final Logger LOG = LoggerFactory.getLogger(ConductorConfig.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  /** No file: the default port, nothing to follow. */
  public static final ConductorConfig NONE =
      new ConductorConfig(HttpSettings.DEFAULT_PORT, List.of());

  public ConductorConfig {
    registrations = List.copyOf(registrations);
  }

  /**
   * Finds and reads the file.
   *
   * @param flag path given on the command line, null = none; such a file must exist
   * @param environment the process's environment; {@code CONDUCTOR_CONFIG_PATH} names a file that
   *     may be absent
   * @throws IOException if the file can not be read or is no such configuration; the message says
   *     where and why
   */
  public static ConductorConfig find(@Nullable Path flag, Map<String, String> environment)
      throws IOException {
    if (flag != null) {
      return read(flag);
    }
    String named = environment.get("CONDUCTOR_CONFIG_PATH");
    Path path =
        named == null
            ? Path.of(System.getProperty("user.home"), ".mooncake", "conductor_config.json")
            : Path.of(named);
    if (Files.exists(path)) {
      return read(path);
    }
    if (named != null) {
      LOG.warn("CONDUCTOR_CONFIG_PATH={} does not exist, nothing is registered from a file", path);
    }
    return NONE;
  }

  static ConductorConfig read(Path path) throws IOException {
    JsonNode root;
    try {
      root = JSON.readTree(Files.readAllBytes(path));
    } catch (NoSuchFileException e) {
      throw new IOException(path + " does not exist", e);
    } catch (IOException e) {
      throw new IOException(path + " can not be read as JSON: " + e.getMessage(), e);
    }
    if (!root.isObject()) {
      throw new IOException(path + " must hold a JSON object");
    }
    return new ConductorConfig(
        port(path, root), registrations(path, root.path("kvevent_instance")));
  }

  private static int port(Path path, JsonNode root) throws IOException {
    JsonNode port = root.path("http_server_port");
    if (port.isMissingNode() || port.isNull()) {
      return HttpSettings.DEFAULT_PORT;
    }
    if (!port.isIntegralNumber()
        || !port.canConvertToInt()
        || port.intValue() < 0
        || port.intValue() > 65_535) {
      throw new IOException(path + ": http_server_port must be 0..65535, got " + port);
    }
    return port.intValue();
  }

  private static List<Entry> registrations(Path path, JsonNode instances) throws IOException {
    if (!instances.isObject() && !instances.isMissingNode() && !instances.isNull()) {
      throw new IOException(path + ": kvevent_instance must be an object of registrations by name");
    }
    List<Entry> entries = new ArrayList<>();
    for (Map.Entry<String, JsonNode> entry : instances.properties()) {
      if (!(entry.getValue() instanceof ObjectNode body)) {
        LOG.warn("{}: skipped kvevent_instance.{}: no object", path, entry.getKey());
        continue;
      }
      JsonNode id = body.path("instance_id");
      if (id.isMissingNode() || id.isNull() || id.isTextual() && id.textValue().isEmpty()) {
        body.put("instance_id", entry.getKey());
      }
      entries.add(new Entry(entry.getKey(), body));
    }
    return entries;
  }
}
