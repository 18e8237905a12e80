// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.access.AccessLog.AccessLogSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The command line of Dynamo's standalone indexer. */
class DynamoOptionsTest {

  private static DynamoOptions parse(String... arguments) {
    return CommandLine.populateCommand(new DynamoOptions(), arguments);
  }

  @Test
  void shouldRegisterAllWorkers_whenTheirCommandLineIsUsed() {
    DynamoOptions options =
        parse(
            ("--threads 4 --block-size 16 --model-name m --tenant-id t"
                    + " --workers 1=tcp://host:5557,2:1=tcp://[::1]:5558")
                .split(" "));
    options.check();
    assertThat(options.registrations())
        .extracting(entry -> entry.body().toString())
        .containsExactly(
            "{\"instance_id\":\"1\",\"endpoint\":\"tcp://host:5557\",\"model_name\":\"m\","
                + "\"tenant_id\":\"t\",\"block_size\":16,\"dp_rank\":0,\"replace\":true}",
            "{\"instance_id\":\"2\",\"endpoint\":\"tcp://[::1]:5558\",\"model_name\":\"m\","
                + "\"tenant_id\":\"t\",\"block_size\":16,\"dp_rank\":1,\"replace\":true}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp://h:1", "=tcp://h:1", ":1=tcp://h:1", "1:x=tcp://h:1"})
  void shouldRefuse_whenAWorkerIsNoWorker(String worker) {
    DynamoOptions options = parse("--block-size", "16", "--workers", worker);
    assertThatThrownBy(options::check).hasMessageContaining(worker);
  }

  @Test
  void shouldRefuse_whenWorkersHaveNoBlockSize() {
    DynamoOptions options = parse("--workers", "1=tcp://h:1");
    assertThatThrownBy(options::check).hasMessageContaining("--block-size");
  }

  @Test
  void shouldLogRequests_onlyWhenAFileIsNamed() {
    assertThat(parse().accessLog()).isNull();
    assertThat(parse("--access-log", "a.log").accessLog())
        .isEqualTo(new AccessLogSettings(Path.of("a.log"), "x-trace-id", false));
    assertThat(
            parse("--access-log=a.log", "--trace-id-header=t", "--access-log-local-time")
                .accessLog())
        .isEqualTo(new AccessLogSettings(Path.of("a.log"), "t", true));
  }

  @Test
  void shouldWaitForWorkers_whenTheEnvironmentSaysSo() {
    String name = DynamoOptions.MIN_INITIAL_WORKERS;
    assertThat(DynamoOptions.minInitialWorkers(Map.of())).isZero();
    assertThat(DynamoOptions.minInitialWorkers(Map.of(name, "0"))).isZero();
    assertThat(DynamoOptions.minInitialWorkers(Map.of(name, " 3 "))).isEqualTo(3);
    for (String text : List.of("-1", "4294967295", "two")) {
      assertThatThrownBy(() -> DynamoOptions.minInitialWorkers(Map.of(name, text)))
          .hasMessageContaining(name)
          .hasMessageContaining(text);
    }
  }
}
