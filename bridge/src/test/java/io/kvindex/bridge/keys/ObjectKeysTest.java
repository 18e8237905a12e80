// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.kvindex.bridge.keys.ObjectKey.Use;
import io.kvindex.model.registration.ShardDimension;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObjectKeysTest {

  private static final String DIGEST =
      "db87cee52504ca5732bad49ddb1d5b8551c011c1891996d58aacae47f66585ed";
  private static final String LAST = "8aacae47f66585ed";
  private static final String FIRST = "db87cee52504ca57";

  /** {@code #} stands for the digest; the part is given as {@code dimension=rank} pairs. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          9992553297328047597                                       ~ last ~ whole
          0x8aacae47f66585ed                                        ~ last ~ whole
          m@tp_rank:3@pcp0@dcp1@pp_rank:2@group:0@#                  ~ last ~ TP=3 PCP=0 DCP=1 PP=2
          prod@org/m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@#         ~ last ~ TP=0 PCP=0 DCP=0 PP=0
          prod@org/m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:1@#         ~ last ~ TP=0 PCP=0 DCP=0 PP=0
          prod@org/m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:x@#         ~ group ~
          other@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@#              ~ model ~
          m2@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@#                 ~ model ~
          m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@##                 ~ last ~ TP=0 PCP=0 DCP=0 PP=0
          m@store_pp:1@store_format:tp_shared_mqa@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@# ~ last ~ whole
          m@store_pp:2@store_format:tp_shared_mqa@tp_rank:0@pcp0@dcp0@pp_rank:1@group:0@# ~ last ~ TP=0 PCP=0 DCP=0 PP=1
          m@store_pp:1@store_format:rank_local_tp2_layout_NHD@tp_rank:1@pcp0@dcp0@pp_rank:0@group:0@# ~ last ~ TP=1 PCP=0 DCP=0 PP=0
          org/m@pcp0@dcp0@head_or_tp_rank:1@pp_rank:0@#              ~ last ~ PCP=0 DCP=0 TP=1 PP=0
          m@pcp0@dcp0@head_or_tp_rank:1@#@17                         ~ last ~ PCP=0 DCP=0 TP=1 LAYERS=17
          m@pcp0@dcp0@head_or_tp_rank:1@pp_rank:0@group:0@cache_role:kv@cache_family:default@# ~ last ~ PCP=0 DCP=0 TP=1 PP=0
          m@dcp:3@head_or_tp_rank:1@pp_rank:0@group:0@cache_role:kv@cache_family:default@# ~ last ~ DCP=3 TP=1 PP=0
          m@pcp0@dcp0@head_or_tp_rank:1@group:0@cache_role:kv@cache_family:default@layer_id:5@# ~ last ~ PCP=0 DCP=0 TP=1 LAYERS=5
          m@pcp0@dcp0@head_or_tp_rank:1@pp_rank:0@group:0@cache_role:state@cache_family:default@# ~ group ~
          m@pcp0@dcp0@head_or_tp_rank:1@pp_rank:0@group:0@cache_role:kv@cache_family:c4@# ~ group ~
          m@dcp:0@head_or_tp_rank:1@pp_rank:0@group:0@cache_role:kv@cache_family:default@transfer:x@range:4_8@# ~ group ~
          #_3_k                                                      ~ first ~ TP=3 KV=0
          #_3_v                                                      ~ first ~ TP=3 KV=1
          #_3_1_v                                                    ~ first ~ TP=3 PP=1 KV=1
          #_3_1_2_k                                                  ~ first ~ TP=3 PP=1 PCP=2 KV=0
          #__k                                                       ~ first ~ whole
          #                                                          ~ first ~ whole
          org-m_#_0_k                                                ~ first ~ TP=0 KV=0
          tag_x_org-m_#__k                                           ~ first ~ whole
          org-m2_#_0_k                                               ~ model ~
          org-m_#_0_draft_k                                          ~ group ~
          org-m_#_0_temporal                                         ~ group ~
          vllm@org/m@4@3@-7b2d9f11@half                              ~ 7fffffff84d260ef ~ TP=3
          org/m@4@3@8aacae47f66585ed                                 ~ last ~ TP=3
          m@1@0@8aacae47f66585ed@bfloat16                            ~ last ~ whole
          m@2@1@#@bfloat16@tenant%a@user%b@c                         ~ none ~
          m@2@1@#@bfloat16@tenant%a@user%b                           ~ last ~ TP=1
          m@2@1@8aacae47f66585ed@bfloat16@7                          ~ last ~ TP=1 LAYERS=7
          n@2@1@8aacae47f66585ed                                     ~ model ~
          m@1@2@8aacae47f66585ed                                     ~ none ~
          some/file.bin                                              ~ none ~
          18446744073709551616                                       ~ none ~
          0x                                                         ~ none ~
          @                                                          ~ none ~
          @#                                                         ~ none ~
          tp_rank:0@#                                                ~ none ~
          """)
  void shouldTellBlockAndPart_whenKeyIsOfAKnownProducer(
      String key, String hash, @Nullable String part) {
    ObjectKey parsed = ObjectKeys.parse(key.replace("#", DIGEST), "org/m");
    switch (hash) {
      case "none" -> assertThat(parsed).isNull();
      case "model" -> assertThat(use(parsed)).isEqualTo(Use.OTHER_MODEL);
      case "group" -> assertThat(use(parsed)).isEqualTo(Use.OTHER_GROUP);
      default -> {
        assertThat(use(parsed)).isEqualTo(Use.BLOCK);
        if (parsed != null) {
          assertThat(HexFormat.of().toHexDigits(parsed.hash())).isEqualTo(expected(hash));
          assertThat(parsed.whole()).isEqualTo("whole".equals(part));
          if (!parsed.whole()) {
            assertThat(new TreeMap<>(parsed.part())).isEqualTo(parts(part));
          }
        }
      }
    }
  }

  /** Whether blocks of that group are of use the key does not tell. */
  @Test
  void shouldTellTheGroupsLabel_whenTheKeyHasOne() {
    String rest = "@tp_rank:0@pcp0@dcp0@pp_rank:0";
    String shared = "m@store_pp:1@store_format:tp_shared_mqa@tp_rank:0@group:7@" + DIGEST;
    assertThat(group("m" + rest + "@group:12@" + DIGEST)).isEqualTo(12);
    assertThat(group("m" + rest + "@" + DIGEST)).isNull();
    assertThat(group(shared)).isEqualTo(7);
    assertThat(group(DIGEST + "_3_k")).isNull();
  }

  private static @Nullable Integer group(String key) {
    ObjectKey parsed = ObjectKeys.parse(key, "m");
    assertThat(use(parsed)).isEqualTo(Use.BLOCK);
    return parsed == null ? null : parsed.group();
  }

  private static @Nullable Use use(@Nullable ObjectKey key) {
    return key == null ? null : key.use();
  }

  private static String expected(String hash) {
    return switch (hash) {
      case "last" -> LAST;
      case "first" -> FIRST;
      // -0x7b2d9f11 as 64 bits
      case "7fffffff84d260ef" -> "ffffffff84d260ef";
      default -> hash;
    };
  }

  private static Map<ShardDimension, Integer> parts(@Nullable String text) {
    Map<ShardDimension, Integer> parts = new TreeMap<>();
    for (String one : text == null ? new String[0] : text.split(" ")) {
      String[] pair = one.split("=");
      parts.put(ShardDimension.valueOf(pair[0]), Integer.valueOf(pair[1]));
    }
    return parts;
  }

  @Test
  void shouldReadModelNamesWithSeparators_whenKeysAreReadFromTheRight() {
    String model = "a@b/c@v2_x";
    String rest = "@tp_rank:0@pcp0@dcp0@pp_rank:0@group:0@" + DIGEST;
    assertThat(use(ObjectKeys.parse(model + rest, model))).isEqualTo(Use.BLOCK);
    assertThat(use(ObjectKeys.parse("p@" + model + rest, model))).isEqualTo(Use.BLOCK);
    assertThat(use(ObjectKeys.parse("c@v2_x" + rest, model))).isEqualTo(Use.BLOCK);
    assertThat(use(ObjectKeys.parse("b/c@v2" + rest, model))).isEqualTo(Use.OTHER_MODEL);
    assertThat(use(ObjectKeys.parse("a@b-c@v2_x_" + DIGEST + "_0_k", model))).isEqualTo(Use.BLOCK);
    assertThat(use(ObjectKeys.parse(model + "@2@0@" + LAST, model))).isEqualTo(Use.BLOCK);
  }

  @Test
  void shouldOnlySayNo_whenKeysAreRubbish() {
    long seed = 4711;
    Random random = new Random(seed);
    String alphabet = "@_:%-/0159afxkvm";
    for (int i = 0; i < 200_000; i++) {
      StringBuilder key = new StringBuilder();
      for (int length = random.nextInt(40); length > 0; length--) {
        key.append(alphabet.charAt(random.nextInt(alphabet.length())));
        if (random.nextInt(20) == 0) {
          key.append(DIGEST);
        }
      }
      String text = key.toString();
      assertThatCode(() -> ObjectKeys.parse(text, "m"))
          .as("seed %d key %s", seed, text)
          .doesNotThrowAnyException();
    }
    assertThat(ObjectKeys.parse("_".repeat(5_000) + DIGEST, "m")).isNull();
  }
}
