// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.model.Media;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("broker")
@Timeout(180)
class KafkaOutageIT {
  private static final Duration LONG = Duration.ofSeconds(60);

  @TempDir Path dir;

  @Test
  void shouldKeepWhatItKnowsAndRefuseInTime_whenKafkaIsAway() throws Exception {
    int port;
    RegistrationTable table;
    RegistrationService service;
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir)) {
      String servers = broker.bootstrapServers();
      port = Integer.parseInt(servers.substring(servers.lastIndexOf(':') + 1));
      Map<String, Object> kafka = Map.of("bootstrap.servers", servers);
      try (Admin admin = Admin.create(kafka)) {
        new TopicCheck(admin, LONG.toMillis())
            .ensure(Topics.all(1, (short) 1, Duration.ofDays(1), -1));
      }
      table =
          new RegistrationTable(
              kafka,
              Media.standard(),
              Generations.FIRST,
              Map::of,
              () -> true,
              new SimpleMeterRegistry());
      service = new RegistrationService(table, kafka, Duration.ofSeconds(3));
      Awaitility.await().atMost(LONG).until(table::caughtUp);
      service.register(request("a"));
    }
    try {
      long start = System.nanoTime();
      ApiException refusal =
          catchThrowableOfType(ApiException.class, () -> service.register(request("b")));
      assertThat(refusal.code()).isEqualTo(ErrorCode.REGISTRATION_TIMEOUT);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(8));
      assertThat(table.snapshot().size()).isOne();
      try (EmbeddedBroker again = EmbeddedBroker.start(BrokerOptions.in(dir).withPort(port))) {
        Awaitility.await().atMost(LONG).ignoreExceptions().until(() -> registered(service, "b"));
        assertThat(table.snapshot().size()).isEqualTo(2);
      }
    } finally {
      service.close();
      table.close();
    }
  }

  private static boolean registered(RegistrationService service, String instance) {
    service.register(request(instance));
    return true;
  }

  private static RegisterRequest request(String instance) {
    String body =
        "{\"endpoint\":\"tcp://h:1\",\"type\":\"vLLM\",\"modelname\":\"m\",\"block_size\":16,"
            + "\"instance_id\":\""
            + instance
            + "\"}";
    return RegisterRequest.parse(body.getBytes(StandardCharsets.UTF_8), HashProfile.XXH3_DEFAULT);
  }
}
