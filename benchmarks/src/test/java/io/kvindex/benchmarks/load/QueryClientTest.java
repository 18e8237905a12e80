// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class QueryClientTest {
  private static final long WARM_UP = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long MEASURED = TimeUnit.MILLISECONDS.toNanos(500);

  /** Bodies of about 200 kB, so that writes are partial and answers come in pieces. */
  private static final LoadShape SHAPE = new LoadShape(32_768, 8, 2, 64, 8);

  private final PromptBodies bodies = new PromptBodies(SHAPE, WireForm.JSON, "stub");

  @Test
  void shouldCountAndCheckAnswers_whenTheServerIsRight() throws IOException {
    try (StubServer server = new StubServer(SHAPE, bodies, 0)) {
      QueryClient client = run(server);

      assertThat(client.answers()).isGreaterThan(16);
      assertThat(client.latencies().total()).isEqualTo(client.answers());
      assertThat(client.checked()).isGreaterThanOrEqualTo(client.answers() / 2);
      assertThat(client.errors()).isZero();
      assertThat(client.wrong()).isZero();
    }
  }

  @Test
  void shouldNoticeWrongNumbers_whenTheServerLies() throws IOException {
    try (StubServer server = new StubServer(SHAPE, bodies, 16)) {
      QueryClient client = run(server);

      assertThat(client.wrong()).isPositive().isEqualTo(client.checked());
    }
  }

  @Test
  void shouldCountErrors_whenTheServerFails() throws IOException {
    try (StubServer server = new StubServer(SHAPE, bodies, 0)) {
      server.failNext(3);

      assertThat(run(server).errors()).isEqualTo(3);
    }
  }

  @Test
  void shouldFindTheProcessByItsPort_andItsCpuTime() throws IOException {
    try (StubServer server = new StubServer(SHAPE, bodies, 0)) {
      CpuMeter cpu = new CpuMeter(ServerProcess.listeningOn(server.port()));
      cpu.start();
      run(server);
      cpu.stop();

      assertThat(cpu.cpuSeconds()).isPositive();
      assertThat(cpu.threads()).contains("%");
    }
  }

  private QueryClient run(StubServer server) throws IOException {
    QueryClient client = new QueryClient(SHAPE, bodies, 2);
    client.run("127.0.0.1", server.port(), 16, WARM_UP, MEASURED, () -> {}, () -> {});
    return client;
  }
}
