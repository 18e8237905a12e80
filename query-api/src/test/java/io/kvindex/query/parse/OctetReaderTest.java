// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.sandbox.TestSeed;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OctetReaderTest {
  private static final int MAX_ITEMS = 1 << 16;

  private final QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
  private final QueryBody body = new QueryBody();

  @Test
  void shouldReadWhatJsonSays_whenTokensAndNamesAreTheSame() {
    long seed = TestSeed.of(OctetReaderTest.class);
    int[] tokens = new Random(seed).ints(1000).toArray();
    parse(
        QueryForm.TOKENS,
        "model=q%20w&block_size=16&tenant_id=a%26b&lora_name=%C3%A9&cache_salt=x+y%2B&instance_id=7",
        octets(tokens));
    QueryBody json = new QueryBody();
    byte[] text =
        ("{\"model\":\"q w\",\"block_size\":16,\"tenant_id\":\"a&b\",\"lora_name\":\"\u00e9\","
                + "\"cache_salt\":\"x y+\",\"instance_id\":\"7\",\"token_ids\":"
                + Arrays.toString(
                    Arrays.stream(tokens).mapToLong(Integer::toUnsignedLong).toArray())
                + "}")
            .getBytes(java.nio.charset.StandardCharsets.UTF_8);
    parser.parse(text, text.length, QueryForm.TOKENS, json);
    assertThat(JsonFuzzTest.describe(body, QueryForm.TOKENS))
        .isEqualTo(JsonFuzzTest.describe(json, QueryForm.TOKENS));
    assertThat(body.dialect()).isEqualTo(Dialect.CONDUCTOR);
  }

  @ParameterizedTest
  @CsvSource({
    "HASHES,modelname=m&lora_id=3,CONDUCTOR",
    "HASHES,model_name=m&routing_group=g,DYNAMO",
    "TIERED,model_name=m&tenant_id=g,DYNAMO",
    "HASHES,model=m&tenant_id=&cache_salt=&lora_id=&block_size=&,CONDUCTOR",
  })
  void shouldReadU64Hashes_whenFormAsksForThem(QueryForm form, String names, Dialect dialect) {
    long[] hashes = {0, -1, Long.MIN_VALUE, 42};
    ByteBuffer octets = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
    octets.asLongBuffer().put(hashes);
    parse(form, names, octets.array());
    assertThat(Arrays.copyOf(body.hashes(), body.count())).isEqualTo(hashes);
    assertThat(body.dialect()).isEqualTo(dialect);
    assertThat(body.tenant()).isEqualTo(dialect == Dialect.DYNAMO ? "g" : "default");
    assertThat(body.loraId()).isEqualTo(names.contains("lora_id=3") ? 3 : QueryBody.NO_LORA_ID);
  }

  @ParameterizedTest
  @CsvSource({
    "TOKENS,model=m,3,INVALID_VALUE,",
    "HASHES,model=m,12,INVALID_VALUE,",
    "TOKENS,model=m,262148,TOO_MANY_ITEMS,",
    "TOKENS,,4,MISSING,model",
    "TOKENS,model=,4,MISSING,model",
    "TOKENS,model_name=,4,MISSING,model_name",
    "TIERED,model=m,8,CONFLICTING_FIELDS,model_name",
    "TOKENS,model=m&model_name=m,4,CONFLICTING_FIELDS,model_name",
    "TOKENS,model=m&modelname=m,4,CONFLICTING_FIELDS,modelname",
    "TOKENS,model=m&model=m,4,CONFLICTING_FIELDS,model",
    "TOKENS,model=m&cachesalt=x,4,UNKNOWN_FIELD,",
    "TOKENS,model=m&token_ids=1,4,UNKNOWN_FIELD,",
    "TOKENS,model=m&routing_group=x,4,UNKNOWN_FIELD,",
    "TOKENS,model=%zz,4,INVALID_VALUE,model",
    "TOKENS,model=m%4,4,INVALID_VALUE,model",
    "TOKENS,model=%ff,4,INVALID_VALUE,model",
    "TOKENS,model=m&block_size=x,4,INVALID_TYPE,block_size",
    "TOKENS,model=m&block_size=016,4,INVALID_TYPE,block_size",
    "TOKENS,model=m&block_size=0,4,OUT_OF_RANGE,block_size",
    "TOKENS,model=m&block_size=99999999999999999999,4,INVALID_TYPE,block_size",
    "TOKENS,model=m&lora_id=1&lora_name=x,4,CONFLICTING_FIELDS,lora_id",
    "TOKENS,model_name=m&lora_id=1,4,UNKNOWN_FIELD,",
    "TOKENS,model_name=m&routing_group=a&tenant_id=b,4,CONFLICTING_FIELDS,tenant_id",
    "HASHES,model_name=m&cache_salt=x,8,UNSUPPORTED,cache_salt",
    "TOKENS,model=m&min_event=x,4,INVALID_VALUE,min_event",
    "TOKENS,model=m&min_event=x:0:y,4,INVALID_TYPE,min_event.event_id",
    "TOKENS,model=m&min_event=x:0:-1,4,OUT_OF_RANGE,min_event.event_id",
    "TOKENS,model=m&min_event=x:0:18446744073709551616,4,OUT_OF_RANGE,min_event.event_id",
    "TOKENS,model=m&min_event=x:0:018,4,INVALID_TYPE,min_event.event_id",
    "TOKENS,model=m&min_event=x:-1:1,4,OUT_OF_RANGE,min_event.dp_rank",
    "TOKENS,model=m&min_event=:0:1,4,MISSING,min_event.instance_id",
  })
  void shouldRefuse_whenParametersOrLengthAreBad(
      QueryForm form, String names, int length, ErrorCode code, String field) {
    ApiException refusal =
        catchThrowableOfType(ApiException.class, () -> parse(form, names, new byte[length]));
    assertThat(refusal).isNotNull();
    assertThat(refusal.code()).as(refusal.getMessage()).isEqualTo(code);
    assertThat(refusal.field()).isEqualTo(field);
  }

  @Test
  void shouldForgetTheRequestBefore_whenParametersDiffer() {
    parse(QueryForm.TOKENS, "model=a&cache_salt=x&min_event=i:2:41", octets(1, 2));
    assertThat(body.minEvent()).isEqualTo(new MinEvent("i", 2, 41));
    parse(QueryForm.TOKENS, "model=a&cache_salt=x&min_event=i:2:41", octets(3));
    assertThat(body.minEvent()).isEqualTo(new MinEvent("i", 2, 41));
    assertThat(body.cacheSalt()).isEqualTo("x");
    assertThat(body.count()).isEqualTo(1);
    parse(QueryForm.TOKENS, "model=b", octets());
    assertThat(body.model()).isEqualTo("b");
    assertThat(body.cacheSalt()).isEmpty();
    assertThat(body.minEvent()).isNull();
    assertThat(body.count()).isZero();
    // A refused request must not pass for one already read.
    String bad = "model=a&model=a";
    for (int i = 0; i < 2; i++) {
      assertThat(
              catchThrowableOfType(
                  ApiException.class, () -> parse(QueryForm.TOKENS, bad, octets(1))))
          .isNotNull();
    }
  }

  @Test
  void shouldAllocateNothingPerToken_whenBuffersHaveGrown() {
    byte[] octets = octets(new int[32_768]);
    for (int i = 0; i < 20_000; i++) {
      parse(QueryForm.TOKENS, "model=a&block_size=16", octets);
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1000; i++) {
      parse(QueryForm.TOKENS, "model=a&block_size=16", octets);
    }
    long each = (threads.getCurrentThreadAllocatedBytes() - before) / 1000;
    assertThat(each).as("bytes allocated per request of 32,768 tokens").isLessThan(512);
  }

  private void parse(QueryForm form, String names, byte[] octets) {
    parser.parse(BodyType.OCTETS, octets, octets.length, form, names, body);
  }

  private static byte[] octets(int... tokens) {
    ByteBuffer octets = ByteBuffer.allocate(4 * tokens.length).order(ByteOrder.LITTLE_ENDIAN);
    octets.asIntBuffer().put(tokens);
    return octets.array();
  }
}
