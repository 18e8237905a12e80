// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.deploy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.ParseResult;

/** The scripts as far as nothing has to be started. */
@Timeout(60)
class ScriptsTest {

  @TempDir private Path directory;
  private String said = "";

  private int run(String... command) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("bash"));
    words.addAll(List.of(command));
    Process process =
        new ProcessBuilder(words)
            .directory(Checkout.ROOT.resolve("deploy").toFile())
            .redirectErrorStream(true)
            .start();
    said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  private int cluster(String... arguments) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("local-cluster.sh"));
    words.addAll(List.of(arguments));
    words.addAll(List.of("--dir", directory.toString()));
    return run(words.toArray(String[]::new));
  }

  @Test
  void shouldStartWhatTheProgramUnderstands() throws Exception {
    assertThat(cluster("commands", "--index-args", "--kafka-property retry.backoff.ms=5")).isZero();
    Set<String> ports = new TreeSet<>();
    List<String> names = new ArrayList<>();
    for (String line : said.lines().toList()) {
      String[] parts = line.split(": kvindex ", 2);
      names.add(parts[0]);
      ParseResult command = Checkout.kvindex(List.of(parts[1].split(" ")));
      String kind = parts[0].replaceAll("-.*", "");
      assertThat(command.commandSpec().name()).isEqualTo(kind);
      boolean isBroker = kind.equals("broker");
      String port = Checkout.value(command, isBroker ? "--port" : "--http-port");
      assertThat(ports.add(port)).as("port %s of %s", port, parts[0]).isTrue();
      if (isBroker) {
        assertThat(ports.add(ownController(command))).isTrue();
      } else {
        assertThat(Checkout.value(command, "--kafka").split(",")).hasSize(3);
        assertThat(Checkout.value(command, "--replication")).isEqualTo("3");
      }
    }
    assertThat(names)
        .containsExactly(
            "broker-1",
            "broker-2",
            "broker-3",
            "bridge-1",
            "bridge-2",
            "index-1",
            "index-2",
            "index-3");
    assertThat(said).contains("--copy index-3", "--data-dir " + directory.resolve("index-3"));
    assertThat(directory).as("nothing was started or written").isEmptyDirectory();
  }

  @Test
  void shouldFindJava_whenTheEnvironmentHasOptionsForIt() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    assertThat(run("-c", "source java.sh; JDK_JAVA_OPTIONS=-Dany=1 java_version " + java)).isZero();
    assertThat(said.strip()).isEqualTo(Integer.toString(Runtime.version().feature()));
  }

  private static String ownController(ParseResult broker) {
    Matcher voter =
        Pattern.compile("(?:^|,)" + Checkout.value(broker, "--node-id") + "@[^:]+:([0-9]+)")
            .matcher(Checkout.value(broker, "--voters"));
    assertThat(voter.find()).isTrue();
    return voter.group(1);
  }

  @Test
  void shouldExplainItself() throws Exception {
    assertThat(run("local-cluster.sh", "--help")).isZero();
    Matcher command =
        Pattern.compile("(?m)^  ([a-z]+)\\) ")
            .matcher(Files.readString(Checkout.ROOT.resolve("deploy/local-cluster.sh")));
    List<String> commands = command.results().map(found -> found.group(1)).toList();
    assertThat(commands).hasSizeGreaterThan(7).contains("start", "stop", "kill");
    assertThat(said).contains(commands);
    assertThat(run("local-cluster.sh")).isEqualTo(2);
    assertThat(said).startsWith("usage:");
  }

  /** A setting with two values is refused by the program. */
  @Test
  void shouldLeaveItsOwnSettingOut_whenAnotherValueIsGiven() throws Exception {
    String linger = "producer.linger.ms=";
    assertThat(cluster("commands")).isZero();
    assertThat(said).contains(linger + 20);
    assertThat(cluster("commands", "--bridge-args", "--kafka-property " + linger + 0)).isZero();
    assertThat(said).contains(linger + 0);
    assertThat(said).doesNotContain(linger + 20);
  }

  @Test
  void shouldSayWhatIsWrong() throws Exception {
    assertThat(cluster("stat")).isEqualTo(2);
    assertThat(said).contains("no command stat", "--help");
    assertThat(cluster("kill", "index-9")).isEqualTo(1);
    assertThat(said).contains("no process index-9", "index-3");
    assertThat(cluster("kill")).isEqualTo(1);
    assertThat(said).contains("needs a NAME", "broker-1");
    assertThat(cluster("start", "--base-port", "http")).isEqualTo(1);
    assertThat(said).contains("--base-port must be 1024..65000, got http");
    assertThat(cluster("start", "--port", "1")).isEqualTo(1);
    assertThat(said).contains("no option --port");
    assertThat(cluster("status")).isEqualTo(1);
    assertThat(said.lines().filter(line -> line.contains(" down "))).hasSize(8);
  }

  @Test
  void shouldProbe() throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    for (int status : new int[] {200, 503}) {
      server.createContext(
          "/" + status,
          exchange -> {
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
          });
    }
    server.start();
    String port = Integer.toString(server.getAddress().getPort());
    try {
      assertThat(run("probe.sh", port, "/200")).isZero();
      assertThat(run("probe.sh", port, "/503")).isNotZero();
    } finally {
      server.stop(0);
    }
    assertThat(run("probe.sh", port, "/200")).as("nobody listens").isNotZero();
  }
}
