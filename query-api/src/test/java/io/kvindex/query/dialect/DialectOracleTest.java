// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.binary.BinaryAnswers;
import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.conductor.ConductorAnswers;
import io.kvindex.query.dialect.DialectModel.Copies;
import io.kvindex.query.dialect.DialectModel.Name;
import io.kvindex.query.dynamo.DynamoAnswers;
import io.kvindex.query.http.QueryAnswers;
import io.kvindex.query.http.QueryReply;
import io.kvindex.query.lookup.EmptyIndex;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import io.kvindex.query.parse.QueryForm;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.remote.Relayed;
import io.kvindex.sandbox.TestSeed;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/**
 * One state of caches, any, asked for in all three dialects, of the replica that has the tables or
 * of another one: each answer is the one its documents define, and nobody sees a block of another
 * tenant, adapter or salt.
 */
class DialectOracleTest {
  private static final int STATES = Integer.getInteger("oracle.states", 10_000);
  private static final String[] MEDIA = {"GPU", "CPU_PINNED", "DISK", "EXTERNAL", "NPU"};
  private static final String[] TENANTS = {"default", "acme"};
  private static final Name[] NAMES = {
    new Name("", "", ""),
    new Name("sql", "", ""),
    new Name("", "", "s"),
    new Name("", "s", ""),
    new Name("sql", "", "s"),
    new Name("", "t", "")
  };
  private static final ObjectMapper JSON = new ObjectMapper();

  private final QueryBodyParser parser = new QueryBodyParser(1 << 20);
  private final QueryBody body = new QueryBody();

  private static final class Tables extends EmptyIndex {
    final Map<TableId, BareIndex> tables = new HashMap<>();

    BareIndex of(TableId table) {
      return tables.computeIfAbsent(table, key -> new BareIndex());
    }

    @Override
    public @Nullable TableView view(TableId table) {
      return of(table);
    }
  }

  @Test
  void shouldAnswerAsDefined_whenAnyStateIsAskedInEachDialect() throws Exception {
    long seed = TestSeed.of(DialectOracleTest.class);
    for (int state = 0; state < STATES; state++) {
      compare(new Random(seed + state), "seed " + seed + " state " + state);
    }
  }

  private void compare(Random random, String where) throws Exception {
    HashProfile profile =
        random.nextBoolean()
            ? HashProfile.XXH3_DEFAULT
            : HashProfile.of(HashProfile.Algorithm.XXH3_DYNAMO);
    DialectModel model = model(random);
    int[] tokens =
        random.ints(model.blocks() * model.blockSize() + random.nextInt(3), 0, 1 << 17).toArray();
    Tables tables = new Tables();
    List<Registered> registered = new ArrayList<>();
    for (String tenant : TENANTS) {
      TableId table = new TableId(tenant, "m", model.blockSize(), profile);
      model
          .ranks()
          .forEach(
              (id, ranks) -> ranks.forEach(rank -> register(registered, table, id, rank, model)));
      fill(tables, table, model, tokens, profile);
    }
    RegistrationSnapshot snapshot = RegistrationSnapshot.of(registered, Media.standard());
    IndexAccess access = random.nextBoolean() ? tables : Relayed.over(tables);
    QueryAnswers conductor = new ConductorAnswers(() -> snapshot, access);
    QueryAnswers binary = new BinaryAnswers(() -> snapshot, access);
    QueryAnswers dynamo = new DynamoAnswers(() -> snapshot, access);
    String tenant = TENANTS[random.nextInt(2)];
    String lora = random.nextBoolean() ? "" : "sql";
    String salt = new String[] {"", "s", "t"}[random.nextInt(3)];
    int size = model.blockSize();
    assertThat(json(conductor, jsonQuery("model", "tenant_id", tenant, lora, salt, size, tokens)))
        .as("%s conductor %s %s %s", where, tenant, lora, salt)
        .isEqualTo(model.conductor(tenant, lora, salt));
    assertThat(
            json(
                dynamo, jsonQuery("model_name", "routing_group", tenant, lora, salt, size, tokens)))
        .as("%s dynamo %s %s %s", where, tenant, lora, salt)
        .isEqualTo(model.dynamo(tenant, lora, salt));
    assertThat(packed(binary, tenant, lora, salt, size, tokens))
        .as("%s binary %s %s %s", where, tenant, lora, salt)
        .isEqualTo(model.binary(tenant, lora, salt));
  }

  private static DialectModel model(Random random) {
    int blocks = 1 + random.nextInt(7);
    SortedMap<String, Set<Integer>> ranks = new TreeMap<>();
    Map<String, Set<String>> pools = new HashMap<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      Set<Integer> own = new TreeSet<>(Set.of(0));
      if (random.nextBoolean()) {
        own.add(1 + random.nextInt(12));
      }
      ranks.put("" + (7 + i), own);
      if (random.nextInt(3) == 0) {
        pools.put("" + (7 + i), random.nextBoolean() ? Set.of() : Set.of("p1"));
      }
    }
    List<Copies> copies = new ArrayList<>();
    List<String> instances = new ArrayList<>(ranks.keySet());
    for (int i = random.nextInt(14); i > 0; i--) {
      boolean pool = random.nextInt(4) == 0;
      String holder =
          pool ? "p" + random.nextInt(2) : instances.get(random.nextInt(instances.size()));
      List<Integer> own = pool ? List.of(0) : new ArrayList<>(ranks.get(holder));
      Set<Integer> held = new TreeSet<>();
      int until = random.nextInt(blocks + 1);
      for (int block = 0; block < until; block++) {
        if (random.nextInt(5) > 0) {
          held.add(block);
        }
      }
      copies.add(
          new Copies(
              TENANTS[random.nextInt(4) == 0 ? 1 : 0],
              NAMES[random.nextBoolean() ? 0 : random.nextInt(NAMES.length)],
              holder,
              own.get(random.nextInt(own.size())),
              pool ? MEDIA[1 + random.nextInt(3)] : MEDIA[random.nextInt(MEDIA.length)],
              pool,
              held));
    }
    return new DialectModel(1 + random.nextInt(5), blocks, ranks, pools, copies);
  }

  private static void register(
      List<Registered> to, TableId table, String instance, int rank, DialectModel model) {
    Set<String> named = model.pools().get(instance);
    SourceOptions plain = SourceOptions.of(CopyPolicy.COUNT);
    SourceOptions options =
        new SourceOptions(
            plain.copies(),
            named == null ? null : new ArrayList<>(named),
            plain.topic(),
            plain.persistentMedia(),
            plain.lowerTier(),
            plain.shards(),
            plain.expirySeconds(),
            plain.addressTiers(),
            plain.poolGroups(),
            plain.clearScope(),
            plain.removalScope(),
            plain.loraPaths(),
            false);
    Registration one =
        new Registration(
            new PublisherId(instance, table.tenantId(), rank),
            "tcp://127.0.0.1:1",
            null,
            SourceType.VLLM,
            table,
            List.of(""),
            null,
            options,
            null);
    to.add(new Registered(one, to.size()));
  }

  private static void fill(
      Tables tables, TableId table, DialectModel model, int[] tokens, HashProfile profile) {
    BareIndex index = tables.of(table);
    for (Copies one : model.copies()) {
      if (one.tenant().equals(table.tenantId())) {
        Name name = one.name();
        PromptHasher hasher = PromptHasher.of(profile);
        hasher.begin(name.lora(), name.salt());
        long context = profile.context(name.lora(), name.namespace(), name.salt());
        for (int block = 0; block < model.blocks(); block++) {
          long hash = hasher.next(tokens, block * model.blockSize(), model.blockSize());
          if (one.blocks().contains(block)) {
            String holder = one.holder() + "/" + one.rank() + "/" + one.medium();
            index.put(one.pool() ? "pool:" + holder : holder, hash ^ context);
          }
        }
      }
    }
  }

  private static byte[] jsonQuery(
      String model,
      String tenantName,
      String tenant,
      String lora,
      String salt,
      int size,
      int[] tokens) {
    return String.format(
            "{\"%s\":\"m\",\"%s\":\"%s\",\"lora_name\":\"%s\",\"cache_salt\":\"%s\",\"block_size\":%d,\"token_ids\":%s}",
            model, tenantName, tenant, lora, salt, size, Arrays.toString(tokens))
        .getBytes(StandardCharsets.UTF_8);
  }

  private Object json(QueryAnswers answers, byte[] text) throws Exception {
    QueryReply reply = new QueryReply();
    parser.parse(BodyType.JSON, text, text.length, QueryForm.TOKENS, null, body);
    answers.answer(QueryForm.TOKENS, body, reply);
    return JSON.readValue(reply.body().asText(), Object.class);
  }

  private Object packed(
      QueryAnswers answers, String tenant, String lora, String salt, int size, int[] tokens)
      throws Exception {
    byte[] bytes;
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packMapHeader(6).packString("model").packString("m");
      out.packString("tenant_id").packString(tenant).packString("lora_name").packString(lora);
      out.packString("cache_salt").packString(salt).packString("block_size").packInt(size);
      out.packString("token_ids").packArrayHeader(tokens.length);
      for (int token : tokens) {
        out.packInt(token);
      }
      bytes = out.toByteArray();
    }
    QueryReply reply = new QueryReply();
    parser.parse(BodyType.MSGPACK, bytes, bytes.length, QueryForm.TOKENS, null, body);
    answers.answer(QueryForm.TOKENS, body, reply);
    try (MessageUnpacker in = MessagePack.newDefaultUnpacker(reply.packed().toBytes())) {
      return JSON.readValue(in.unpackValue().toJson(), Object.class);
    }
  }
}
