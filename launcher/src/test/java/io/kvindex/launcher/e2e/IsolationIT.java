// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.e2e.ContextQueries.Form;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same tokens, stored once in every context by an instance of its own: whoever asks in one
 * context, in whatever form, finds that instance and no other one. From records in the events topic
 * to answers over HTTP.
 */
@Tag("broker")
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class IsolationIT {
  private static final int[] PROMPT = IntStream.range(0, 16).map(i -> 1_000 * i + 7).toArray();
  private static final List<HashProfile> PROFILES =
      List.of(HashProfile.XXH3_DEFAULT, HashProfile.of(Algorithm.XXH3_DYNAMO));

  /** Names that run into each other where they are put together without care. */
  private static final List<String> TRICKY = tricky();

  private final List<HeldContext> contexts = new ArrayList<>();
  private AllInOne server;
  private Api api;
  private ContextQueries queries;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
    api = new Api(server.uri());
    queries = new ContextQueries(server.uri(), PROMPT);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @Test
  void shouldMatchItsOwnInstanceOnly_whenEachContextHoldsTheSameTokens() throws Exception {
    List<HeldContext> product = new ArrayList<>();
    for (HashProfile profile : PROFILES) {
      // Tenant and model read the same put together, so do adapter and salt.
      String end = profile.equals(HashProfile.XXH3_DEFAULT) ? "" : "d";
      for (String tenant : List.of("default", "a", "ab")) {
        for (String model : List.of("bc" + end, "c" + end, "abc" + end)) {
          for (int blockSize : List.of(2, 4)) {
            TableId table = new TableId(tenant, model, blockSize, profile);
            // Engines that name their blocks alike, and engines that do not.
            boolean alike = model.startsWith("bc");
            for (String lora : List.of("", "x", "xy")) {
              for (String salt : List.of("", "yz", "z")) {
                product.add(context(table, lora, null, "", salt, alike));
              }
              product.add(context(table, lora, null, "n", "", alike));
            }
          }
        }
      }
    }
    hold(product);
    askEach(product);
    askInBatches(product);
    for (HeldContext context : product) {
      if (context.namespace().isEmpty()) {
        boolean all = !context.isDynamo(); // by hash Dynamo can not say which variant it means
        assertThat(expected(context, Form.DYNAMO_BY_HASH, product)).hasSize(all ? 9 : 1);
      }
      assertThat(expected(context, Form.CONDUCTOR, product)).containsExactly(context.instance());
    }
  }

  private void askInBatches(List<HeldContext> product) {
    for (Form form :
        List.of(Form.CONDUCTOR, Form.CONDUCTOR_BY_HASH, Form.DYNAMO, Form.DYNAMO_BY_HASH)) {
      for (int from = 0; from < product.size(); from += 250) {
        List<HeldContext> some = product.subList(from, Math.min(product.size(), from + 250));
        List<Set<String>> found = queries.matching(some, form);
        for (int i = 0; i < some.size(); i++) {
          assertThat(found.get(i))
              .as("batch of %s asks %s", form, some.get(i))
              .isEqualTo(expected(some.get(i), form, product));
        }
      }
    }
  }

  @Test
  void shouldKeepContextsApart_whenTheirNamesAreTricky() throws Exception {
    List<HeldContext> all = new ArrayList<>();
    for (HashProfile profile : PROFILES) {
      String model = profile.equals(HashProfile.XXH3_DEFAULT) ? "t" : "u";
      TableId plain = new TableId("default", model, 4, profile);
      all.add(context(plain, "", null, "", "", true));
      all.add(context(plain, "", 7, "", "", true));
      all.add(context(plain, "", 0, "", "", true));
      for (String name : TRICKY) {
        all.add(context(plain, name, null, "", "", true));
        all.add(context(plain, "", null, name, "", true));
        all.add(context(plain, "", null, "", name, true));
        all.add(context(plain, name, null, "", name, true));
        if (!name.equals("default")) {
          all.add(context(new TableId(name, model, 4, profile), "", null, "", "", true));
        }
        if (name.length() < 4_096) {
          TableId other = new TableId("default", name + model, 4, profile);
          all.add(context(other, "", null, "", "", true));
        }
      }
    }
    hold(all);
    askEach(all);
  }

  private void askEach(List<HeldContext> all) {
    for (Form form : Form.values()) {
      List<String> wrong =
          all.parallelStream()
              .filter(context -> queries.canAsk(context, form))
              .map(
                  context -> {
                    Set<String> found = queries.matching(context, form);
                    Set<String> expected = expected(context, form, all);
                    return found.equals(expected)
                        ? ""
                        : context + " found " + found + ", not " + expected;
                  })
              .filter(problem -> !problem.isEmpty())
              .toList();
      assertThat(wrong).as("asked by %s", form).isEmpty();
    }
  }

  private static List<String> tricky() {
    String longest = "l".repeat(4_096);
    return List.of(
        "x",
        "xx",
        "X",
        "x ",
        " x",
        "x|y",
        "x\\|y",
        "x\\",
        "x|",
        "|",
        "x:y",
        "x/y",
        "x&y=z",
        "x%7Cy",
        "x+y",
        "x,y",
        "x\ny",
        "x\u0000",
        "\u0000x",
        "\u0001x",
        "null",
        "none",
        "default",
        "Default",
        "7",
        "-1",
        "\u00e9",
        "e\u0301",
        "e",
        "\u00c3\u00a9",
        "?",
        "\ufffd",
        "\ud83d\ude00",
        "\ud83d\ude01",
        longest,
        longest.substring(1),
        longest.substring(1) + "m");
  }

  private static Set<String> expected(HeldContext asked, Form form, List<HeldContext> held) {
    List<HeldContext> table =
        held.stream().filter(one -> one.table().equals(asked.table())).toList();
    String salt = asked.cacheSalt();
    boolean isSpace =
        !salt.isEmpty() && table.stream().anyMatch(one -> one.namespace().equals(salt));
    Set<String> expected = new TreeSet<>();
    for (HeldContext one : table) {
      if (isMeant(asked, form, one, isSpace)) {
        expected.add(one.instance());
      }
    }
    return expected;
  }

  /**
   * @param isSpace whether the salt a query states is a namespace of the table
   */
  private static boolean isMeant(HeldContext asked, Form form, HeldContext held, boolean isSpace) {
    boolean sameAdapter = held.adapter().equals(asked.adapter());
    boolean plain = held.namespace().isEmpty();
    if (form.isByHash() && asked.isDynamo()) {
      // Adapter and salt are in the hashes: what is stated beside them can only be a namespace.
      boolean sameHash = sameAdapter && held.salt().equals(asked.salt());
      boolean spaced = isSpace && !form.isDynamo() && !form.isBinary();
      return sameHash && (spaced ? held.namespace().equals(asked.cacheSalt()) : plain);
    }
    if (form.isByHash() && form.isDynamo()) {
      return plain; // hashes of single blocks tell neither, and nothing stands beside them
    }
    boolean bySalt = plain && held.salt().equals(asked.cacheSalt());
    boolean byNamespace = held.namespace().equals(asked.cacheSalt()) && held.salt().isEmpty();
    return sameAdapter && (bySalt || byNamespace && !form.isDynamo() && !form.isBinary());
  }

  private HeldContext context(
      TableId table,
      String lora,
      @Nullable Integer loraId,
      String namespace,
      String salt,
      boolean alike) {
    String instance = "" + (1_000 + contexts.size());
    long name = alike ? 0 : 1_000L * contexts.size();
    HeldContext one = new HeldContext(table, lora, loraId, namespace, salt, instance, name);
    contexts.add(one);
    return one;
  }

  /** Registers each context's instance, and waits until its blocks are found. */
  private void hold(List<HeldContext> all) throws Exception {
    all.parallelStream().forEach(one -> api.post("/register", registration(one)));
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", server.bootstrapServers()),
            new StringSerializer(),
            new ByteArraySerializer())) {
      for (HeldContext one : all) {
        var record = one.stored(PROMPT);
        producer.send(
            new ProducerRecord<>(
                Topics.EVENTS,
                TablePartition.of(one.table(), server.eventPartitions()),
                record.stream().key(),
                EventRecordCodec.encode(record)));
      }
      producer.flush();
    }
    for (HeldContext one : all) {
      await()
          .atMost(Duration.ofSeconds(60))
          .pollDelay(Duration.ZERO)
          .until(() -> queries.matching(one, Form.CONDUCTOR).contains(one.instance()));
    }
  }

  private static ObjectNode registration(HeldContext one) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", "tcp://127.0.0.1:1")
        .put("type", "vLLM")
        .put("modelname", one.table().model())
        .put("tenant_id", one.table().tenantId())
        .put("instance_id", one.instance())
        .put("block_size", one.table().blockSize())
        .put("lora_name", one.lora())
        .put("additionalsalt", one.namespace())
        .put("hash_profile", one.table().hashProfile().algorithm().wireName());
  }
}
