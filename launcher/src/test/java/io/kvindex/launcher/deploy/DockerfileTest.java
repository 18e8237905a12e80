// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParseResult;

/** The image's recipe; nobody builds it here. */
class DockerfileTest {

  private static final String HOME = "/opt/kvindex";

  private final List<String[]> instructions = instructions();

  /** Instruction and the rest, continued lines joined. */
  private static List<String[]> instructions() {
    List<String[]> found = new ArrayList<>();
    String joined = Checkout.text("Dockerfile").replaceAll("(?m)^#.*\\n", "").replace("\\\n", " ");
    joined
        .lines()
        .filter(line -> !line.isBlank())
        .forEach(line -> found.add(line.strip().split("\\s+", 2)));
    return found;
  }

  private List<String> all(String instruction) {
    return instructions.stream().filter(i -> i[0].equals(instruction)).map(i -> i[1]).toList();
  }

  private String last(String instruction) {
    List<String> all = all(instruction);
    return all.get(all.size() - 1);
  }

  private static List<String> words(String json) throws JsonProcessingException {
    return List.of(new ObjectMapper().readValue(json, String[].class));
  }

  @Test
  void shouldStartFromPinnedImages() {
    assertThat(all("FROM")).hasSize(2);
    all("FROM").forEach(from -> Checkout.assertPinned(from.split(" ")[0]));
    assertThat(last("FROM")).contains("temurin:17.", "-jre-");
  }

  @Test
  void shouldNotRunAsRoot() {
    assertThat(last("USER")).matches("[1-9][0-9]{3,}:[1-9][0-9]{3,}");
    String[] user = last("USER").split(":");
    assertThat(String.join("\n", all("RUN")))
        .contains("--uid " + user[0], "--gid " + user[1], "-o " + user[0]);
  }

  @Test
  void shouldCopyWhatIsThere() {
    List<String> ignored =
        Checkout.text(".dockerignore").lines().filter(l -> !l.startsWith("#")).toList();
    for (String copy : all("COPY")) {
      List<String> words = Arrays.asList(copy.split("\\s+"));
      if (!words.get(0).startsWith("--from")) {
        for (String source : words.subList(0, words.size() - 1)) {
          assertThat(Checkout.ROOT.resolve(source)).exists();
          assertThat(ignored).doesNotContain(source);
        }
      }
    }
    // What the build stage needs of the sources: the aggregate is read with all its modules.
    for (String module :
        List.of(
            "model",
            "sandbox",
            "bridge",
            "streams-app",
            "query-api",
            "launcher",
            "testing",
            "benchmarks",
            "examples")) {
      assertThat(Checkout.text("pom.xml")).contains("<module>" + module + "</module>");
      assertThat(ignored).doesNotContain(module, module + "/pom.xml", module + "/");
    }
    assertThat(ignored).contains("**/target", ".git").doesNotContain("docs", "docs/openapi.yaml");
  }

  @Test
  void shouldRunTheProgram() throws JsonProcessingException {
    String program = words(last("ENTRYPOINT")).get(0);
    assertThat(program).isEqualTo(HOME + "/kvindex");
    assertThat(all("COPY"))
        .contains(
            "kvindex LICENSE " + HOME + "/",
            "deploy/java.sh deploy/probe.sh deploy/class-archive.sh " + HOME + "/deploy/");
    assertThat(last("RUN")).startsWith(HOME + "/deploy/class-archive.sh ||");
    assertThat(Files.isExecutable(Path.of("../deploy/class-archive.sh"))).isTrue();
    assertThat(Files.isExecutable(Checkout.ROOT.resolve("kvindex"))).isTrue();
    assertThat(Checkout.text("kvindex"))
        .contains("jar=$home/launcher/target/kvindex.jar", "source \"$home/deploy/java.sh\"");
    ParseResult command = Checkout.kvindex(words(last("CMD")));
    List<String> probe = words(last("HEALTHCHECK").replaceFirst(".* CMD ", ""));
    assertThat(probe.get(0)).isEqualTo(HOME + "/deploy/probe.sh");
    assertThat(Files.isExecutable(Path.of("../deploy/probe.sh"))).isTrue();
    assertThat(probe.get(1)).isEqualTo(Checkout.value(command, "--http-port"));
    assertThat(Checkout.paths("all")).contains(probe.get(2));
    assertThat(last("EXPOSE").split(" ")).contains(probe.get(1));
  }
}
