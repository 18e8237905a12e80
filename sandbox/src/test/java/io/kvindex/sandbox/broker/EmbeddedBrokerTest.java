// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.sandbox.broker.BrokerSettings.Ports;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class EmbeddedBrokerTest {
  @TempDir Path dir;

  @Test
  void shouldKeepRecords_whenRestartedOnTheSameDirectory() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir)) {
      BrokerClient.createTopic(broker.bootstrapServers(), "t");
      BrokerClient.send(broker.bootstrapServers(), "t", 0, 50);
    }
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir)) {
      BrokerClient.send(broker.bootstrapServers(), "t", 50, 60);
      assertThat(BrokerClient.readAll(broker.bootstrapServers(), "t"))
          .isEqualTo(IntStream.range(0, 60).boxed().toList());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldLookForOtherPorts_whenAFreeOneIsTakenBeforeKafkaListens(boolean controllers)
      throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      AtomicInteger tries = new AtomicInteger();
      Function<BrokerOptions, Ports> free =
          options ->
              tries.incrementAndGet() == 1
                  ? new Ports(
                      controllers ? freePort() : taken.getLocalPort(),
                      controllers ? taken.getLocalPort() : freePort())
                  : new Ports(freePort(), freePort());
      try (EmbeddedBroker broker = EmbeddedBroker.start(BrokerOptions.in(dir), free)) {
        BrokerClient.createTopic(broker.bootstrapServers(), "t");
        BrokerClient.send(broker.bootstrapServers(), "t", 0, 10);
        assertThat(BrokerClient.readAll(broker.bootstrapServers(), "t")).hasSize(10);
      }
      assertThat(tries).hasValue(2);
    }
  }

  @Test
  void shouldRefuse_whenAnotherProcessHoldsTheDirectory() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir)) {
      Process second = BrokerProcess.start(dir);
      try (BufferedReader out = second.inputReader()) {
        assertThat(out.lines().filter(l -> l.startsWith("refused ")).findFirst())
            .hasValueSatisfying(
                message ->
                    assertThat(message)
                        .contains(dir.toString())
                        .contains("is in use by another broker")
                        .contains(Long.toString(ProcessHandle.current().pid())));
      } finally {
        second.destroyForcibly().waitFor();
      }
      assertThatThrownBy(() -> EmbeddedBroker.start(dir))
          .isInstanceOf(BrokerStartException.class)
          .hasMessageContaining("is in use by another broker");
      assertThat(broker.bootstrapServers()).startsWith("127.0.0.1:");
    }
  }

  @Test
  void shouldNameTheDirectory_whenItHoldsSomethingElse() throws Exception {
    Files.writeString(dir.resolve("photos.txt"), "mine");
    assertThatThrownBy(() -> EmbeddedBroker.start(dir))
        .isInstanceOf(BrokerStartException.class)
        .hasMessageContaining(dir.toString())
        .hasMessageContaining("photos.txt");
    assertThat(dir).isDirectoryNotContaining("glob:**/broker.lock");
  }

  @Test
  void shouldNameTheFile_whenMetaPropertiesIsDamaged() throws Exception {
    EmbeddedBroker.start(dir).close();
    Path meta = dir.resolve("kafka/meta.properties");
    String good = Files.readString(meta);
    for (String bad : List.of("", "version=1\nnode.id=7\ncluster.id=x\n", "\\u00zz=1\n")) {
      Files.writeString(meta, bad);
      assertThatThrownBy(() -> EmbeddedBroker.start(dir))
          .isInstanceOf(BrokerStartException.class)
          .hasMessageContaining(meta.toString())
          .hasMessageContaining("move ");
    }
    Files.delete(meta);
    assertThatThrownBy(() -> EmbeddedBroker.start(dir))
        .isInstanceOf(BrokerStartException.class)
        .hasMessageContaining(meta.toString());
    Files.writeString(meta, good);
    EmbeddedBroker.start(dir).close();
  }

  @Test
  void shouldThrowInsteadOfHaltingTheJvm_whenKafkaCannotReadItsMetadata() throws Exception {
    EmbeddedBroker.start(dir).close();
    Path metadata = dir.resolve("kafka/__cluster_metadata-0/quorum-state");
    Files.writeString(metadata, "{not json");
    assertThatThrownBy(() -> EmbeddedBroker.start(dir))
        .isInstanceOf(BrokerStartException.class)
        .hasMessageContaining(dir.toString());
  }

  @Test
  void shouldNameThePort_whenItIsTaken() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      BrokerOptions options = BrokerOptions.in(dir).withPort(taken.getLocalPort());
      assertThatThrownBy(() -> EmbeddedBroker.start(options))
          .isInstanceOf(BrokerStartException.class)
          .hasMessageContaining("127.0.0.1:" + taken.getLocalPort());
    }
  }

  @Test
  void shouldListenOnTheGivenPort_whenOneIsGiven() throws Exception {
    int port = freePort();
    try (EmbeddedBroker broker = EmbeddedBroker.start(BrokerOptions.in(dir).withPort(port))) {
      assertThat(broker.bootstrapServers()).isEqualTo("127.0.0.1:" + port);
      BrokerClient.createTopic(broker.bootstrapServers(), "t");
    }
  }

  @Test
  void shouldRefuseTheDirectoryOfAnotherCluster() {
    BrokerOptions options = BrokerOptions.in(dir);
    String voter = "7@127.0.0.1:" + freePort();
    EmbeddedBroker.start(options.withCluster(BrokerCluster.of("site", 7, voter))).close();
    assertThatThrownBy(
            () -> EmbeddedBroker.start(options.withCluster(BrokerCluster.of("other", 7, voter))))
        .isInstanceOf(BrokerStartException.class)
        .hasMessageContaining("another Kafka cluster than other");
    assertThatThrownBy(() -> EmbeddedBroker.start(options))
        .isInstanceOf(BrokerStartException.class)
        .hasMessageContaining("belongs to node 7");
  }

  @Test
  void shouldServeOneBrokerPerJvm_whenShared() throws Exception {
    String topic = SharedBroker.unique("Shared");
    BrokerClient.createTopic(SharedBroker.bootstrapServers(), topic);
    BrokerClient.send(SharedBroker.bootstrapServers(), topic, 0, 3);
    assertThat(BrokerClient.readAll(SharedBroker.bootstrapServers(), topic))
        .containsExactly(0, 1, 2);
    assertThat(SharedBroker.unique("Shared")).isNotEqualTo(topic);
  }

  private static int freePort() {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
