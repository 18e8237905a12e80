// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.launcher.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** What {@code kvindex register} sends; a stand-in takes it. */
class RegisterCommandTest {

  private static final String ALL =
      "--instance e1 --tenant acme --dp-rank 2 --lora sql --endpoint tcp://h:1 --replay-endpoint tcp://h:2"
          + " --type vLLM --model m --block-size 16 --namespace w8a8 --hash-profile vllm_sha256:0 --copies set"
          + " --lower-tier pool:p --clear-scope all --persistent-media DISK,nvme --topic kv@ --lora-path sql=/m/sql"
          + " --pools p,q --shards tp=4,kv=2 --pool-groups 0,3 --expiry 60 --removal-scope medium"
          + " --address-tier nvme=DISK --address-tier ram=CPU --replace --detached";

  private final StringWriter err = new StringWriter();
  private final List<JsonNode> bodies = new ArrayList<>();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/register",
        exchange -> {
          bodies.add(new ObjectMapper().readTree(exchange.getRequestBody()));
          byte[] answer =
              "{\"status\":\"registered successfully\"}".getBytes(StandardCharsets.US_ASCII);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void shouldSendWhatWasNamedAndNothingElse_whenFlagsAreGiven() throws IOException {
    assertThat(register(ALL.split(" "))).as(err.toString()).isZero();
    assertThat(bodies.get(0))
        .isEqualTo(
            new ObjectMapper()
                .readTree(
                    """
                    {"instance_id":"e1","tenant_id":"acme","dp_rank":2,"lora_name":"sql",
                     "endpoint":"tcp://h:1","type":"vLLM","modelname":"m","block_size":16,
                     "replay_endpoint":"tcp://h:2","additionalsalt":"w8a8","copies":"set",
                     "lower_tier":"pool:p","clear_scope":"all","removal_scope":"medium","topic":"kv@",
                     "persistent_media":["DISK","nvme"],"pools":["p","q"],"lora_paths":{"sql":"/m/sql"},
                     "address_tiers":{"nvme":"DISK","ram":"CPU"},
                     "hash_profile":{"algorithm":"vllm_sha256","seed":"0"},"shards":{"tp":4,"kv":2},
                     "pool_groups":[0,3],"expiry_seconds":60,"replace":true,"detached":true}"""));
    String[] few =
        "--instance e1 --endpoint tcp://h:1 --model m --block-size 16 --shards 8".split(" ");
    assertThat(register(few)).isZero();
    assertThat(bodies.get(1).toString())
        .isEqualTo(
            "{\"instance_id\":\"e1\",\"tenant_id\":\"default\",\"dp_rank\":0,\"endpoint\":\"tcp://h:1\","
                + "\"type\":\"vLLM\",\"modelname\":\"m\",\"block_size\":16,\"shards\":8}");
  }

  /** A member the API learns has to be learnt here, too. */
  @Test
  void shouldHaveAFlagForEachMember_whenTheApiKnowsIt() throws IOException {
    assertThat(register(ALL.split(" "))).as(err.toString()).isZero();
    String schema =
        Files.readString(Path.of("..", "docs", "openapi.yaml"))
            .replaceFirst("(?s).*?\\n    Registration:\\n", "")
            .replaceFirst("(?s)\\n    \\w+:\\n.*", "");
    Matcher members = Pattern.compile("(?m)^        (\\w+):").matcher(schema);
    List<String> known = members.results().map(found -> found.group(1)).toList();
    assertThat(known).contains("endpoint", "replace").hasSizeGreaterThan(20);
    List<String> sent = new ArrayList<>();
    bodies.get(0).fieldNames().forEachRemaining(sent::add);
    sent.add("model"); // the same as modelname
    assertThat(sent).containsAll(known);
  }

  @Test
  void shouldTakeJsonAndNoPools_whenFlagsSaySo() {
    assertThat(registerOne("--pools", "", "--hash-profile", "{\"strategy\":\"sglang\"}"))
        .as(err.toString())
        .isZero();
    assertThat(bodies.get(0).path("pools").isArray()).isTrue();
    assertThat(bodies.get(0).path("pools")).isEmpty();
    assertThat(bodies.get(0).at("/hash_profile/strategy").asText()).isEqualTo("sglang");
  }

  @Test
  void shouldSayWhatIsWrong_whenAFlagCannotBeRead() {
    for (String shards : new String[] {"tp", "tp=x", "4,8", "=4"}) {
      assertThat(registerOne("--shards", shards)).as(shards).isNotZero();
    }
    assertThat(err.toString()).contains("--shards must be a number or NAME=N,NAME=N, got tp");
    assertThat(bodies).isEmpty();
  }

  /** With what has to be said of any, and these. */
  private int registerOne(String... more) {
    List<String> all =
        new ArrayList<>(
            List.of("--instance e --endpoint tcp://h:1 --model m --block-size 16".split(" ")));
    all.addAll(List.of(more));
    return register(all.toArray(String[]::new));
  }

  private int register(String... flags) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(new StringWriter())).setErr(new PrintWriter(err, true));
    List<String> all = new ArrayList<>(List.of("register"));
    all.addAll(List.of(flags));
    all.addAll(List.of("--server", "http://127.0.0.1:" + server.getAddress().getPort()));
    return command.execute(all.toArray(String[]::new));
  }
}
