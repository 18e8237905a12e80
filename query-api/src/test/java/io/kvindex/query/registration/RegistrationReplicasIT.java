// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.sandbox.broker.SharedBroker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas that are asked in turn, cross each other or come late agree on what is registered. */
class RegistrationReplicasIT extends RegistrationFixture {

  @Test
  void shouldBeVisibleAtOnceAndOnTheOtherReplica_whenRegistered() throws Exception {
    HttpResponse<String> answer = post(0, "/register", body(",\"additionalsalt\":\"w8a8\""));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo("{\"status\":\"registered successfully\",\"instance_id\":\"" + instance + "\"}");
    assertThat(service(0).path("AdditionalSalt").asText()).isEqualTo("w8a8");
    Awaitility.await().atMost(TIMEOUT).until(() -> !service(1).isMissingNode());
    assertThat(service(1)).isEqualTo(service(0));
  }

  @Test
  void shouldWriteNothing_whenRegisteredAgainAnywhere() throws Exception {
    post(0, "/register", body(""));
    long generation = service(0).path("Generation").asLong();
    assertThat(post(0, "/register", body("")).statusCode()).isEqualTo(200);
    assertThat(post(1, "/register", body("")).statusCode()).isEqualTo(200);
    assertThat(post(0, "/register", body(",\"replace\":true")).statusCode()).isEqualTo(200);
    assertThat(service(0).path("Generation").asLong()).isEqualTo(generation);
    assertThat(service(1).path("Generation").asLong()).isEqualTo(generation);
  }

  @Test
  void shouldSeeOldRegistrations_whenReplicaStartsLater() throws Exception {
    post(0, "/register", body(",\"pools\":[\"p\"]"));
    Replica late = Replica.start();
    try {
      Awaitility.await().atMost(TIMEOUT).until(late.table()::caughtUp);
      Registered seen = late.table().snapshot().get(new PublisherId(instance, "default", 0));
      assertThat(seen)
          .isNotNull()
          .extracting(one -> one.registration().options().pools())
          .isEqualTo(List.of("p"));
    } finally {
      late.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldBeAGenerationOfItsOwn_whenCrossedByAnotherReplica(boolean replaced) throws Exception {
    post(0, "/register", body(""));
    PublisherId publisher = new PublisherId(instance, "default", 0);
    Registered before = Objects.requireNonNull(replicas.get(0).table().snapshot().get(publisher));
    write(publisher, replaced ? before.registration() : null);
    long crossed = write(publisher, before.withLoraNames(List.of("", "sql")));
    awaitGeneration(0, crossed);
    awaitGeneration(1, crossed);
    Replica late = Replica.start();
    replicas.add(late);
    try {
      awaitGeneration(2, crossed);
      // said again, the record gets the name it should have, for those who see nothing before it
      assertThat(post(0, "/register", body("")).statusCode()).isEqualTo(200);
      for (int i = 0; i < 3; i++) {
        int replica = i;
        Awaitility.await()
            .atMost(TIMEOUT)
            .untilAsserted(
                () ->
                    assertThat(replicas.get(replica).table().snapshot().get(publisher))
                        .isEqualTo(
                            new Registered(
                                before.registration().withLoraNames(List.of("", "sql"), crossed),
                                crossed)));
      }
    } finally {
      replicas.remove(late);
      late.close();
    }
  }

  private void awaitGeneration(int replica, long generation) {
    Awaitility.await()
        .atMost(TIMEOUT)
        .until(() -> service(replica).path("Generation").asLong(-1) == generation);
  }

  /** As another replica that has not seen the newest record yet; the record's offset. */
  private static long write(PublisherId publisher, @Nullable Registration registration)
      throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", SharedBroker.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      return producer
          .send(
              new ProducerRecord<>(
                  Topics.REGISTRATIONS,
                  publisher.key().getBytes(StandardCharsets.UTF_8),
                  registration == null ? null : RegistrationCodec.encode(registration)))
          .get()
          .offset();
    }
  }

  @Test
  void shouldEndWithOneRegistration_whenManyRegisterAtOnce() throws Exception {
    List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      all.add(client.sendAsync(request(0, "/register", body("")), BodyHandlers.ofString()));
    }
    for (CompletableFuture<HttpResponse<String>> one : all) {
      assertThat(one.get().statusCode()).isEqualTo(200);
    }
    assertThat(services(0)).hasSize(1);
  }

  @Test
  void shouldAnswerNobody_whileItIsNotKnownWhoIsNotConnected() throws Exception {
    post(0, "/register", body(""));
    AtomicBoolean known = new AtomicBoolean();
    Map<String, Object> kafka = Map.of("bootstrap.servers", SharedBroker.bootstrapServers());
    try (RegistrationTable table =
        new RegistrationTable(
            kafka,
            Media.standard(),
            Generations.FIRST,
            Map::of,
            known::get,
            new SimpleMeterRegistry())) {
      Awaitility.await()
          .atMost(TIMEOUT)
          .until(() -> table.snapshot() != RegistrationSnapshot.EMPTY);
      assertThat(catchThrowableOfType(ApiException.class, table::whole).code())
          .isEqualTo(ErrorCode.NOT_READY);
      known.set(true);
      Awaitility.await().atMost(TIMEOUT).until(table::caughtUp);
      assertThat(table.whole()).isNotNull();
    }
  }
}
