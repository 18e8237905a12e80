// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.binary;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.packed.Packed;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Source: Mooncake Conductor, C++ server, answers and cases of {@code POST /query}. */
class BinaryAnswersTest extends BinaryFixture {
  private static final String NONE = "{\"instances\":{}}";

  private static String row(int gpu, int cpu, int disk) {
    String tiers = "\"gpu\":" + gpu + ",\"cpu\":" + cpu + ",\"disk\":" + disk;
    return "{\"longest_matched\":"
        + disk
        + ",\"dp\":{\"0\":"
        + gpu
        + "},\"rank_matches\":{\"0\":{"
        + tiers
        + "}},"
        + tiers
        + "}";
  }

  private static String only(String instance, String row) {
    return "{\"instances\":{\"" + instance + "\":" + row + "}}";
  }

  private static String json(HttpResponse<byte[]> answer) {
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type")).contains("application/msgpack");
    return Packed.json(answer.body());
  }

  @Test
  void shouldAnswerAsTheServerDoes_whenAPrefixIsCached() throws Exception {
    register("e0", 0);
    index.store("e0/0/GPU", 0, tokens(64), BLOCK, 0, 1, 2, 3);
    HttpResponse<byte[]> answer = query("token_ids", tokens(64));
    assertThat(json(answer))
        .isEqualTo(
            "{\"instances\":{\"e0\":{\"longest_matched\":64,\"dp\":{\"0\":64},\"rank_matches\":{\"0\":{\"gpu\":64,\"cpu\":64,\"disk\":64}},\"gpu\":64,\"cpu\":64,\"disk\":64}}}");
    assertThat(answer.headers().firstValue("x-kvindex-state")).contains("exact");
    assertThat(answer.headers().firstValue("x-kvindex-lag-ms")).contains("0");
  }

  @Test
  void shouldAnswerTheSame_whenTokensAreBytesOrHashesAreGiven() throws Exception {
    register("e0", 0);
    int[] prompt = tokens(64);
    index.store("e0/0/GPU", 0, prompt, BLOCK, 0, 1);
    String expected = only("e0", row(32, 32, 32));
    ByteBuffer bytes = ByteBuffer.allocate(4 * prompt.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(prompt);
    assertThat(json(query("token_ids", bytes.array()))).isEqualTo(expected);
    SeqHash rule = new SeqHash(HashProfile.XXH3_DEFAULT.xxh3Seed());
    long[] hashes = rule.rolled(rule.locals(prompt, prompt.length, BLOCK));
    List<Long> list = Arrays.stream(hashes).boxed().toList();
    assertThat(
            json(
                post(
                    "/query_by_hash",
                    Packed.map("model", "m", "block_size", BLOCK, "seq_hashes", list))))
        .isEqualTo(expected);
  }

  @Test
  void shouldIgnoreThePartialTail_whenTokensEndWithinABlock() throws Exception {
    register("e0", 0);
    index.store("e0/0/GPU", 0, tokens(32), BLOCK, 0, 1);
    assertThat(json(query("token_ids", tokens(24)))).isEqualTo(only("e0", row(16, 16, 16)));
  }

  @Test
  void shouldListZeroRows_whenNothingMatches() throws Exception {
    register("e1", 2);
    register("e1", 0);
    register("e0", 0);
    String e1 =
        "{\"longest_matched\":0,\"dp\":{\"0\":0,\"2\":0},\"rank_matches\":{\"0\":{\"gpu\":0,\"cpu\":0,\"disk\":0},\"2\":{\"gpu\":0,\"cpu\":0,\"disk\":0}},\"gpu\":0,\"cpu\":0,\"disk\":0}";
    String both = "{\"instances\":{\"e0\":" + row(0, 0, 0) + ",\"e1\":" + e1 + "}}";
    assertThat(json(query("token_ids", tokens(64)))).isEqualTo(both);
    assertThat(json(query("token_ids", List.of()))).isEqualTo(both);
    assertThat(json(query("token_ids", tokens(15)))).isEqualTo(both);
    assertThat(json(query("token_ids", tokens(64), "cache_salt", "x"))).isEqualTo(both);
    assertThat(json(query("token_ids", List.of(-1), "instance_id", "e0")))
        .isEqualTo(only("e0", row(0, 0, 0)));
  }

  @Test
  void shouldAnswerAnEmptyMap_whenTheContextIsUnknown() throws Exception {
    assertThat(json(query("token_ids", tokens(64)))).isEqualTo(NONE);
    register("e0", 0);
    index.store("e0/0/GPU", 0, tokens(64), BLOCK, 0);
    assertThat(json(query("token_ids", tokens(64), "tenant_id", "other"))).isEqualTo(NONE);
    assertThat(json(query("token_ids", tokens(64), "model", "other"))).isEqualTo(NONE);
    assertThat(json(query("token_ids", tokens(64), "block_size", 32))).isEqualTo(NONE);
    assertThat(json(query("token_ids", tokens(64), "lora_name", "other"))).isEqualTo(NONE);
    assertThat(json(query("token_ids", tokens(64), "instance_id", "e9"))).isEqualTo(NONE);
  }

  @Test
  void shouldListTheInstancesOfAnAdapter_whenTheyAreRegisteredForItOrHoldItsBlocks()
      throws Exception {
    register("e0", 0);
    register("e1", 0, "sql");
    register("e2", 0, "sql", "");
    register("e3", 0);
    long sql = HashProfile.XXH3_DEFAULT.context("sql", "", "");
    index.store("e3/0/GPU", sql, tokens(32), BLOCK, 0, 1);
    assertThat(json(query("token_ids", tokens(32), "lora_name", "sql")))
        .isEqualTo(
            "{\"instances\":{\"e1\":"
                + row(0, 0, 0)
                + ",\"e2\":"
                + row(0, 0, 0)
                + ",\"e3\":"
                + row(32, 32, 32)
                + "}}");
    assertThat(json(query("token_ids", tokens(32))))
        .contains("\"e0\"", "\"e2\"", "\"e3\"")
        .doesNotContain("\"e1\"");
  }

  @Test
  void shouldMatchTheRequestSaltOnly_whenACacheSaltIsGiven() throws Exception {
    register("e0", 0);
    HashProfile profile = HashProfile.XXH3_DEFAULT;
    index.store("e0/0/GPU", profile.context("", "", "x"), tokens(32), BLOCK, 0);
    index.store("e0/0/GPU", profile.context("", "y", ""), tokens(32), BLOCK, 0, 1);
    assertThat(json(query("token_ids", tokens(32), "cache_salt", "x")))
        .isEqualTo(only("e0", row(16, 16, 16)));
    assertThat(json(query("token_ids", tokens(32), "cache_salt", "y")))
        .isEqualTo(only("e0", row(0, 0, 0)));
    assertThat(json(query("token_ids", tokens(32), "cache_salt", null)))
        .isEqualTo(only("e0", row(0, 0, 0)));
  }

  @Test
  void shouldCountItsOwnBlocksInTheirTier_whateverTheMediumIsCalled() throws Exception {
    register("e0", 0);
    register("e1", 1);
    index.store("e0/0/NPU", 0, tokens(64), BLOCK, 0);
    index.store("e0/0/HBM", 0, tokens(64), BLOCK, 1);
    index.store("e0/0/CPU", 0, tokens(64), BLOCK, 2);
    index.store("e0/0/DISK", 0, tokens(64), BLOCK, 3);
    assertThat(json(query("token_ids", tokens(64), "instance_id", "e0")))
        .isEqualTo(only("e0", row(32, 48, 64)));
    assertThat(json(query("token_ids", tokens(64), "instance_id", "e1")))
        .contains("\"longest_matched\":0");
  }

  @Test
  void shouldEndWithTheDisk_whenBlocksAreHeldFurtherOut() throws Exception {
    register("e0", 0);
    index.store("e0/0/GPU", 0, tokens(64), BLOCK, 0);
    index.store("e0/0/CPU_PINNED", 0, tokens(64), BLOCK, 1);
    index.store("pool:p/0/SSD", 0, tokens(64), BLOCK, 2);
    index.store("pool:p/0/EXTERNAL", 0, tokens(64), BLOCK, 3);
    assertThat(json(query("token_ids", tokens(64)))).isEqualTo(only("e0", row(16, 32, 48)));
  }

  @Test
  void shouldTellHowFarToTrust_whenTheIndexIsBehind() throws Exception {
    register("e0", 0);
    index.trust = Trust.STALE;
    index.lagMs = 1_234;
    HttpResponse<byte[]> answer = query("token_ids", tokens(16));
    assertThat(answer.headers().firstValue("x-kvindex-state")).contains("stale");
    assertThat(answer.headers().firstValue("x-kvindex-lag-ms")).contains("1234");
  }

  @Test
  void shouldListEveryInstance_whenThereAreMoreThanAShortHeaderHolds() throws Exception {
    for (int i = 0; i < 300; i++) {
      register("instance-with-a-name-of-some-length-" + (1_000 + i), 0);
    }
    String all = json(query("token_ids", tokens(16)));
    for (int i = 0; i < 300; i++) {
      assertThat(all).contains("\"instance-with-a-name-of-some-length-" + (1_000 + i) + "\":");
    }
  }
}
