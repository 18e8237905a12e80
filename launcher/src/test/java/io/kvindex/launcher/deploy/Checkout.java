// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.launcher.Main;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import picocli.CommandLine.ParseResult;

/** The files of a checkout that somebody deploys, and what they have to agree with. */
final class Checkout {

  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final ObjectMapper JSON = new ObjectMapper();

  private Checkout() {}

  static String text(String file) {
    try {
      return Files.readString(ROOT.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All documents of a YAML file, anchors and merges resolved. */
  static List<JsonNode> yaml(String file) {
    Yaml yaml = new Yaml(new SafeConstructor(new LoaderOptions()));
    List<JsonNode> documents = new ArrayList<>();
    try (Reader reader = Files.newBufferedReader(ROOT.resolve(file))) {
      yaml.loadAll(reader).forEach(document -> documents.add(JSON.valueToTree(document)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return documents;
  }

  /** Elements of a list as text. */
  static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(one -> texts.add(one.asText()));
    return texts;
  }

  /** Parses a command line as the program would; it fails on what the program would refuse. */
  static ParseResult kvindex(List<String> arguments) {
    ParseResult parsed = Main.commandLine().parseArgs(arguments.toArray(String[]::new));
    assertThat(parsed.subcommand()).as("command of %s", arguments).isNotNull();
    return parsed.subcommand();
  }

  /** A flag's value, its default if the command line does not have it. */
  static String value(ParseResult command, String flag) {
    return String.valueOf((Object) command.commandSpec().findOption(flag).getValue());
  }

  /** GET paths of a process' HTTP side. */
  static Set<String> paths(String command) {
    Set<String> paths = new TreeSet<>();
    if (command.equals("bridge")) {
      Matcher route =
          Pattern.compile("routes\\.get\\(\\s*\"([^\"]+)\"")
              .matcher(text("launcher/src/main/java/io/kvindex/launcher/process/BridgeHttp.java"));
      route.results().forEach(found -> paths.add(found.group(1)));
    } else {
      yaml("docs/openapi.yaml")
          .get(0)
          .path("paths")
          .fields()
          .forEachRemaining(
              path -> {
                if (path.getValue().has("get")) {
                  paths.add(path.getKey());
                }
              });
    }
    assertThat(paths).hasSizeGreaterThan(3);
    return paths;
  }

  /** An image named so that it is the same one tomorrow. */
  static void assertPinned(String image) {
    assertThat(image).matches("[a-z0-9./-]+:[0-9]+\\.[0-9]+\\.[0-9][^:]*");
  }
}
