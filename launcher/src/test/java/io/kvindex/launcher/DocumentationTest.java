// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.OptionSpec;

/** What the documents list is what there is: metrics, by their names in the sources, and flags. */
class DocumentationTest {

  private static final Path ROOT = Path.of("..");

  /** Who registers metrics. */
  private static final List<String> MODULES =
      List.of("bridge", "streams-app", "query-api", "launcher");

  private static final Pattern DOCUMENTED = Pattern.compile("`((?:kvindex|dynamo)_[a-z_]+)`");
  private static final Pattern WHOLE_NAME = Pattern.compile("\"(kvindex\\.[a-z.]+)\"");
  private static final Pattern PREFIX = Pattern.compile("String PREFIX = \"([a-z._]+)\"");
  private static final Pattern BEHIND_PREFIX =
      Pattern.compile("(?:PREFIX \\+ |\\bgauge\\(\\s*|\\bsingle\\(|WAITING = )\"([a-z._]+)\"");

  /** A link to a file, or to a heading, of this repository. */
  private static final Pattern LINK =
      Pattern.compile("]\\((?![a-z]+:)([^)\\s#]*)(?:#([^)\\s]+))?\\)");

  private static final Pattern ENVIRONMENT = Pattern.compile("\\$\\{env:([A-Z_]+)");

  @Test
  void shouldListEveryMetric_andNoOther() throws IOException {
    Set<String> documented = new TreeSet<>();
    for (String line : Files.readAllLines(ROOT.resolve("docs/metrics.md"))) {
      if (line.startsWith("| `")) {
        Matcher name = DOCUMENTED.matcher(line.split("\\|")[1]);
        while (name.find()) {
          documented.add(bare(name.group(1)));
        }
      }
    }
    assertThat(documented).hasSizeGreaterThan(50).isEqualTo(metricsInSources());
  }

  private static Set<String> metricsInSources() throws IOException {
    Set<String> names = new TreeSet<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          addMetrics(Files.readString(file), file.endsWith("MetricNames.java"), names);
        }
      }
    }
    return names;
  }

  private static void addMetrics(String source, boolean namesOnly, Set<String> to) {
    if (namesOnly || source.contains("import io.micrometer.core.")) {
      WHOLE_NAME.matcher(source).results().forEach(found -> to.add(bare(found.group(1))));
    }
    Matcher prefix = PREFIX.matcher(source);
    if (prefix.find() && prefix.group(1).matches("(kvindex|dynamo)[._].*")) {
      to.remove(bare(prefix.group(1)));
      BEHIND_PREFIX
          .matcher(source)
          .results()
          .forEach(found -> to.add(bare(prefix.group(1) + found.group(1))));
    }
  }

  /** The same for a name in the code, with dots and without a unit, and for one as scraped. */
  private static String bare(String name) {
    return name.replace('.', '_').replaceAll("(_seconds)?(_total)?$|_$", "");
  }

  @Test
  void shouldLeadSomewhere_everyLink() throws IOException {
    List<String> dead = new ArrayList<>();
    int links = 0;
    for (Path document : documents()) {
      Matcher link = LINK.matcher(Files.readString(document));
      while (link.find()) {
        links++;
        String file = link.group(1);
        Path target =
            file.isEmpty()
                ? document
                : Objects.requireNonNull(document.getParent()).resolve(file).normalize();
        String heading = link.group(2);
        if (!Files.exists(target) || heading != null && !headings(target).contains(heading)) {
          dead.add(document + ": " + link.group());
        }
      }
    }
    assertThat(links).isGreaterThan(100);
    assertThat(dead).isEmpty();
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents = new ArrayList<>();
    for (String place : List.of("docs", "testing", "benchmarks", "examples", "deploy")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(place))) {
        files
            .filter(file -> file.toString().endsWith(".md"))
            .filter(file -> !file.toString().matches(".*/(target|\\.work)/.*"))
            .forEach(documents::add);
      }
    }
    for (String name : List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md")) {
      documents.add(ROOT.resolve(name));
    }
    return documents;
  }

  /** Headings of a document as links name them. */
  private static Set<String> headings(Path document) throws IOException {
    Set<String> names = new TreeSet<>();
    boolean code = false;
    for (String line : Files.readAllLines(document)) {
      code ^= line.strip().startsWith("```");
      if (!code && line.matches("#+ .*")) {
        String text = line.replaceFirst("#+ ", "").replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1");
        names.add(
            text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_\\- ]", "").replace(' ', '-'));
      }
    }
    return names;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "all",
        "broker",
        "bridge",
        "index",
        "repair",
        "replay",
        "forget",
        "backup",
        "query-at",
        "diff"
      })
  void shouldListEveryFlagOfAProcess(String command) throws IOException {
    String document = Files.readString(ROOT.resolve("docs/config.md"));
    List<OptionSpec> options =
        Objects.requireNonNull(Main.commandLine().getSubcommands().get(command))
            .getCommandSpec()
            .options();
    assertThat(options).hasSizeGreaterThan(2);
    for (OptionSpec option : options) {
      if (!option.usageHelp() && !option.versionHelp()) {
        for (String name : option.names()) {
          assertThat(document).containsPattern("`" + name + "[` ]");
        }
        Matcher environment = ENVIRONMENT.matcher(String.valueOf(option.defaultValue()));
        if (environment.find()) {
          assertThat(document).contains("`" + environment.group(1) + "`");
        }
      }
    }
  }
}
