// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.kvindex.launcher.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** What client commands say where a server does not answer as one. */
class ApiClientTest {

  private HttpServer server;
  private String answer = "[]";

  @BeforeEach
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(answer.startsWith("<") ? 502 : 200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private String uri() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static String problem(String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setErr(new PrintWriter(err, true));
    assertThat(commandLine.execute(arguments)).isNotZero();
    return err.toString();
  }

  @Test
  void shouldSayWhoAnswered_whenThatIsNoJson() {
    answer = "<html>Bad gateway</html>";
    assertThat(problem("workers", "--server", uri()))
        .startsWith("kvindex workers: what answers at " + uri() + " (502) is no kvindex");
  }

  /** It would be left out, and somebody else asked. */
  @Test
  void shouldRefuseAServerWithAPath() {
    assertThat(problem("workers", "--server", uri() + "/kvindex"))
        .contains("--server must be http://HOST:PORT");
  }

  @Test
  void shouldSayWhichWordIsNoTokenId(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("ids"), "1 2 three");
    assertThat(problem("query", "--model", "m", "--tokens-file", file.toString()))
        .contains("--tokens-file", "ids", "`three`");
  }

  /** As one that waits for its events asks every 50 ms. */
  @Test
  void shouldKeepOneClient_howeverOftenItAsks() {
    long before = clients();
    assertThat(new CommandLine(new Asking()).execute("--server", uri())).isZero();
    assertThat(clients() - before).isLessThanOrEqualTo(1);
  }

  private static long clients() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().matches("HttpClient-.*SelectorManager"))
        .count();
  }

  @Command
  private static final class Asking implements Callable<Integer> {
    @Mixin private ApiClient api;

    @Override
    public Integer call() throws Exception {
      for (int i = 0; i < 30; i++) {
        assertThat(api.get("/workers")).isEmpty();
      }
      return 0;
    }
  }
}
