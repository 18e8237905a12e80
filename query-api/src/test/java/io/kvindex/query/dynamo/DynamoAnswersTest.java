// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dynamo;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.query.dialect.WorkerId;
import io.kvindex.streams.view.ContextNames;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Answers and refusals of the three query routes. */
class DynamoAnswersTest extends DynamoFixture {

  private static final String NOTHING = "{\"scores\":{},\"frequencies\":[],\"instances\":{}}";
  private static final int[] TOKENS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  private static final SeqHash ROLL = new SeqHash(1337);

  private void hold(String holder, long... locals) {
    part(holder, 0, locals.length, locals);
  }

  /** Holds blocks {@code from} to {@code to} of a prompt given by its local hashes. */
  private void part(String holder, int from, int to, long... locals) {
    long[] seq = ROLL.rolled(locals);
    for (int i = from; i < to; i++) {
      index.put(holder, seq[i]);
    }
  }

  @Test
  void shouldCountInTokens_whenHostGoesOnFromTheDevice() throws Exception {
    register("7", 4, DYNAMO);
    register("8", 4, DYNAMO);
    hold("7/0/GPU", 11, 12);
    hold("8/0/GPU", 11, 12);
    part("7/0/CPU", 2, 3, 11, 12, 13);
    assertThat(byHash("[11,12,13]"))
        .isEqualTo(
            "{\"scores\":{\"7\":{\"0\":8},\"8\":{\"0\":8}},\"frequencies\":[],\"instances\":{"
                + "\"7\":{\"longest_matched\":12,\"gpu\":8,\"dp\":{\"0\":8},\"cpu\":12,\"disk\":12},"
                + "\"8\":{\"longest_matched\":8,\"gpu\":8,\"dp\":{\"0\":8},\"cpu\":8,\"disk\":8}}}");
  }

  @Test
  void shouldTakeTheMaximaOverRanks_whenRanksReachDifferently() throws Exception {
    register("7", 16, DYNAMO);
    long[] prompt = {1, 2, 3, 4, 5};
    part("7/0/GPU", 0, 2, prompt);
    part("7/0/CPU_PINNED", 2, 3, prompt);
    part("7/0/DISK", 3, 5, prompt);
    part("7/1/GPU", 0, 1, prompt);
    part("7/1/NVME", 1, 2, prompt);
    assertThat(byHash("[1,2,3,4,5]"))
        .endsWith(
            "{\"7\":{\"longest_matched\":80,\"gpu\":32,\"dp\":{\"0\":32,\"1\":16},\"cpu\":48,"
                + "\"disk\":80}}}");
  }

  @Test
  void shouldFollowTheDevicesTail_whenHostAlsoHasAChainFromTheRoot() throws Exception {
    register("7", 4, DYNAMO);
    long[] prompt = {10, 11, 12, 13, 14};
    part("7/0/GPU", 0, 3, prompt);
    part("7/0/CPU", 0, 2, prompt);
    part("7/0/CPU", 3, 5, prompt);
    assertThat(byHash("[10,11,12,13,14]")).contains("\"gpu\":12,\"dp\":{\"0\":12},\"cpu\":20,");
  }

  @Test
  void shouldAddNothing_whenHostHasWhatTheDeviceHas() throws Exception {
    register("7", 4, DYNAMO);
    hold("7/0/GPU", 100, 101, 102, 103, 104);
    hold("7/0/CPU", 100, 101, 102, 103, 104);
    assertThat(byHash("[100,101,102,103,104,105]"))
        .contains("\"gpu\":20,\"dp\":{\"0\":20},\"cpu\":20,\"disk\":20");
  }

  @Test
  void shouldListTheRankWithZero_whenOnlyALowerTierHolds() throws Exception {
    register("7", 4, DYNAMO);
    register("9", 4, DYNAMO);
    hold("7/3/CPU", 11, 12);
    assertThat(byHash("[11,12]"))
        .isEqualTo(
            "{\"scores\":{},\"frequencies\":[],\"instances\":{\"7\":{\"longest_matched\":8,"
                + "\"gpu\":0,\"dp\":{\"3\":0},\"cpu\":8,\"disk\":8}}}");
  }

  @Test
  void shouldCountExternalAsDisk_whenMediumIsUnknown() throws Exception {
    register("7", 4, DYNAMO);
    hold("7/0/NETWORK", 11);
    assertThat(byHash("[11]")).contains("\"gpu\":0,\"dp\":{\"0\":0},\"cpu\":0,\"disk\":4");
  }

  @Test
  void shouldHitTheSameBlocks_whenHashesComeSignedOrUnsigned() throws Exception {
    register("7", 4, DYNAMO);
    long[] locals = ROLL.locals(TOKENS, TOKENS.length, 4);
    hold("7/0/GPU", locals);
    String expected = "\"scores\":{\"7\":{\"0\":12}}";
    assertThat(byHash(Arrays.toString(locals))).contains(expected);
    assertThat(byHash(Arrays.stream(locals).mapToObj(Long::toUnsignedString).toList().toString()))
        .contains(expected);
    assertThat(query("")).contains(expected);
  }

  @Test
  void shouldAnswerNothing_whenNothingMatches() throws Exception {
    register("7", 4, DYNAMO);
    hold("7/0/GPU", 11);
    assertThat(byHash("[]")).isEqualTo(NOTHING);
    assertThat(byHash("[12,11]")).isEqualTo(NOTHING);
    assertThat(ok("/query", "{\"model_name\":\"m\",\"token_ids\":[]}")).isEqualTo(NOTHING);
    assertThat(ok("/query", "{\"model_name\":\"m\",\"token_ids\":[1,2,3]}")).isEqualTo(NOTHING);
    assertThat(query("\"lora_name\":\"x\",")).isEqualTo(NOTHING);
    assertThat(query("\"cache_salt\":\"x\",")).isEqualTo(NOTHING);
    assertThat(query("\"lora_name\":\"\",\"cache_salt\":null,")).isEqualTo(NOTHING);
  }

  @Test
  void shouldAnswerInBlocksPerTier_whenTheTiersAreAskedFor() throws Exception {
    register("18446744073709551615", 4, DYNAMO);
    register("pod", 4, DYNAMO);
    long[] prompt = {1, 2, 3, 4, 5};
    part("18446744073709551615/1/GPU", 0, 2, prompt);
    part("18446744073709551615/1/CPU", 2, 3, prompt);
    part("18446744073709551615/1/REMOTE", 3, 5, prompt);
    part("pod/0/GPU", 0, 1, prompt);
    part("pod/0/DISK", 1, 2, prompt);
    String first = "{\"worker_id\":18446744073709551615,\"dp_rank\":1}";
    String second = "{\"worker_id\":" + WorkerId.of("pod") + ",\"dp_rank\":0}";
    assertThat(
            ok(
                "/query_tiered_by_hash",
                "{\"model_name\":\"m\",\"routing_group\":\"default\",\"block_hashes\":[1,2,3,4,5]}"))
        .isEqualTo(
            "{\"block_size\":4,\"tiered\":{\"device\":{\"scores\":[["
                + first
                + ",2],["
                + second
                + ",1]],\"frequencies\":[]},\"lower_tier\":[[\"host_pinned\",{\"hits\":[["
                + first
                + ",1]]}],[\"disk\",{\"hits\":[["
                + second
                + ",1]]}],[\"external\",{\"hits\":[["
                + first
                + ",2]]}]]}}");
    assertThat(ok("/query_tiered_by_hash", "{\"model_name\":\"m\",\"block_hashes\":[9]}"))
        .isEqualTo(
            "{\"block_size\":4,\"tiered\":{\"device\":{\"scores\":[],\"frequencies\":[]},"
                + "\"lower_tier\":[]}}");
  }

  @Test
  void shouldHitInBothDialects_whicheverRegistered() throws Exception {
    for (HashProfile profile : List.of(DYNAMO, HashProfile.XXH3_DEFAULT)) {
      String instance = profile.equals(DYNAMO) ? "7" : "8";
      int size = profile.equals(DYNAMO) ? 4 : 2;
      register(instance, size, profile);
      for (String[] names : List.of(new String[] {"", ""}, new String[] {"sql", "s"})) {
        PromptHasher hasher = PromptHasher.of(profile);
        hasher.begin(names[0], names[1]);
        long context = profile.context(names[0], null, names[1]);
        for (int i = 0; i < TOKENS.length / size - (names[0].isEmpty() ? 0 : 1); i++) {
          index.put(instance + "/0/GPU", hasher.next(TOKENS, i * size, size) ^ context);
        }
      }
    }
    for (int size : List.of(2, 4)) {
      String instance = size == 4 ? "7" : "8";
      String common = "\"block_size\":" + size + ",";
      String salted = common + "\"lora_name\":\"sql\",\"cache_salt\":\"s\",";
      String ids = "\"token_ids\":" + Arrays.toString(TOKENS) + "}";
      assertThat(query(common)).contains("\"scores\":{\"" + instance + "\":{\"0\":12}}");
      assertThat(query(salted))
          .contains("\"scores\":{\"" + instance + "\":{\"0\":" + (12 - size) + "}}");
      assertThat(query(common + "\"lora_name\":\"sql\",")).isEqualTo(NOTHING);
      assertThat(query(common + "\"cache_salt\":\"s\",")).isEqualTo(NOTHING);
      assertThat(ok("/query", "{\"model\":\"m\"," + common + ids)).contains("\"GPU\":12");
      assertThat(ok("/query", "{\"model\":\"m\"," + salted + ids))
          .contains("\"GPU\":" + (12 - size));
      assertThat(ok("/query", "{\"model\":\"m\"," + common + "\"lora_name\":\"sql\"," + ids))
          .contains("\"GPU\":0");
    }
  }

  @Test
  void shouldSearchAllVariantsButPieceNoneTogether_whenAskedByHash() throws Exception {
    register("7", 4, HashProfile.XXH3_DEFAULT);
    long[] locals = ROLL.locals(TOKENS, TOKENS.length, 4);
    long[] seq = ROLL.rolled(locals);
    ContextNames lora = context("sql", null, null);
    ContextNames salted = context(null, null, "s");
    ContextNames spaced = context(null, "space", null);
    for (ContextNames names : List.of(lora, salted, spaced)) {
      index.announce(names);
    }
    index.put("7/0/GPU", seq[0] ^ lora.hash());
    index.put("7/0/CPU", seq[1] ^ lora.hash());
    index.put("7/1/GPU", seq[0] ^ salted.hash());
    index.put("7/0/GPU", seq[2] ^ salted.hash());
    index.put("7/2/GPU", seq[0] ^ spaced.hash());
    assertThat(byHash(Arrays.toString(locals)))
        .isEqualTo(
            "{\"scores\":{\"7\":{\"0\":4,\"1\":4}},\"frequencies\":[],\"instances\":{\"7\":{"
                + "\"longest_matched\":8,\"gpu\":4,\"dp\":{\"0\":4,\"1\":4},\"cpu\":8,\"disk\":8}}}");
  }

  @Test
  void shouldUseTheBlockSizeOfDynamosRegistration_whenThereAreSeveral() throws Exception {
    register("a", 2, HashProfile.XXH3_DEFAULT);
    long[] seq = ROLL.rolled(ROLL.locals(TOKENS, TOKENS.length, 2));
    index.put("a/0/GPU", seq[0]);
    assertThat(query("")).contains("\"scores\":{\"a\":{\"0\":2}}");
    register("b", 3, HashProfile.XXH3_DEFAULT);
    assertThat(post("/query", tokens("")).statusCode()).isEqualTo(409);
    assertThat(post("/query", tokens("")).body())
        .contains("2, 3", "\"reason\":\"registration_conflict\"", "\"field\":\"block_size\"");
    assertThat(query("\"block_size\":2,")).contains("\"scores\":{\"a\":{\"0\":2}}");
    register("7", 4, DYNAMO);
    index.put("7/0/GPU", ROLL.rolled(ROLL.locals(TOKENS, TOKENS.length, 4))[0]);
    assertThat(query("")).contains("\"scores\":{\"7\":{\"0\":4}}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          /query                ~ {"model_name":"x","token_ids":[1]}                        ~ 404 ~ no indexer for model=x routing_group=default
          /query                ~ {"model_name":"m","tenant_id":"g","token_ids":[1]}        ~ 404 ~ no indexer for model=m routing_group=g
          /query                ~ {"model_name":"m","routing_group":"g","tenant_id":"g","token_ids":[1]} ~ 404 ~ no indexer for model=m routing_group=g
          /query                ~ {"model_name":"m","routing_group":"g","tenant_id":"h","token_ids":[1]} ~ 400 ~ conflicting_fields
          /query_by_hash        ~ {"model_name":"x","block_hashes":[1]}                     ~ 404 ~ no indexer for model=x routing_group=default
          /query_tiered_by_hash ~ {"model_name":"x","block_hashes":[1]}                     ~ 404 ~ no indexer for model=x routing_group=default
          /query                ~ {"model_name":"m","block_size":9,"token_ids":[1]}         ~ 404 ~ no indexer for model=m routing_group=default
          /query_by_hash        ~ {"model_name":"m","block_hashes":[1],"cache_salt":"x"}    ~ 400 ~ cache_salt is not accepted by /query_by_hash
          /query_tiered_by_hash ~ {"model_name":"m","block_hashes":[1],"cache_salt":"x"}    ~ 400 ~ cache_salt is not accepted by /query_tiered_by_hash
          /query_by_hash        ~ {"model_name":"m","block_hashes":[1],"cache_salt":""}     ~ 200 ~ "scores":{}
          /query_by_hash        ~ {"model_name":"m","block_hashes":[1],"cache_salt":null}   ~ 200 ~ "scores":{}
          /query                ~ {"model_name":"m"}                                        ~ 422 ~ "field":"token_ids"
          /query                ~ {"model_name":"m","token_ids":null}                       ~ 422 ~ "field":"token_ids"
          /query                ~ {"model_name":"m","token_ids":"x"}                        ~ 422 ~ "reason":"invalid_type"
          /query                ~ {"model_name":"m","token_ids":[-1]}                       ~ 422 ~ "index":0
          /query                ~ {"model_name":"m","token_ids":[1,4294967296]}             ~ 422 ~ "index":1
          /query                ~ {"model_name":7,"token_ids":[1]}                          ~ 422 ~ "field":"model_name"
          /query                ~ {"model_name":"m","model":"m","token_ids":[1]}            ~ 400 ~ not both
          /query_by_hash        ~ {"model_name":"m"}                                        ~ 422 ~ "field":"block_hashes"
          /query_by_hash        ~ {"model_name":"m","block_hashes":[18446744073709551616]}  ~ 422 ~ "index":0
          /query_tiered_by_hash ~ {"block_hashes":[1]}                                      ~ 422 ~ "field":"model_name"
          /query                ~ {"model_name":"m","token_ids":[1}                         ~ 400 ~ "reason":"invalid_json"
          /query                ~ {"model_name":"m","token_ids":[1],"unknown":{"a":[1]}}    ~ 200 ~ "scores":{}
          """)
  void shouldAnswerAsTheirs_whenTheBodyIs(String path, String body, int status, String text)
      throws Exception {
    register("7", 4, DYNAMO);
    var answer = post(path, body);
    assertThat(answer.body()).contains(text);
    assertThat(answer.statusCode()).isEqualTo(status);
  }

  @Test
  void shouldRefuse_whenTheBodyIsLongerThan8Mib() throws Exception {
    register("7", 4, DYNAMO);
    String body = "{\"model_name\":\"m\",\"token_ids\":[" + " ".repeat(8 << 20) + "]}";
    assertThat(post("/query", body).statusCode()).isEqualTo(413);
  }

  @Test
  void shouldSayWhatToDo_whenTheProfileHasNoLocalHashes() throws Exception {
    register("7", 4, HashProfile.of(Algorithm.VLLM_SHA256_CBOR));
    var answer = post("/query_by_hash", "{\"model_name\":\"m\",\"block_hashes\":[1]}");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("token_ids", "\"reason\":\"unsupported\"");
  }

  private static ContextNames context(String lora, String namespace, String salt) {
    return new ContextNames(ContextHash.of(lora, namespace, salt), lora, namespace, salt);
  }

  private String query(String members) throws Exception {
    return ok("/query", tokens(members));
  }

  private static String tokens(String members) {
    String ids = Arrays.stream(TOKENS).mapToObj(Integer::toString).collect(Collectors.joining(","));
    return "{\"model_name\":\"m\"," + members + "\"token_ids\":[" + ids + "]}";
  }
}
