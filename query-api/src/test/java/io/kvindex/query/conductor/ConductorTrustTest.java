// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.SourceType;
import io.kvindex.query.lookup.Trust;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How far an answer says it is to be trusted. */
class ConductorTrustTest extends ConductorFixture {

  @Test
  void shouldSayHowFarToTrustIt_whenIndexIsNotExact() throws Exception {
    register("a", 0, 2);
    assertThat(query("", SIX).headers().firstValue("X-KvIndex-State")).hasValue("exact");
    index.trust = Trust.STALE;
    index.lagMs = 1234;
    register("b\r\nX: y", 0, 2);
    register("*", 0, 2);
    index.degraded = Set.of(rank0("a"), rank0("b\r\nX: y"), rank0("*"));
    HttpResponse<String> answer = query("", SIX);
    assertThat(answer.headers().firstValue("X-KvIndex-State")).hasValue("stale");
    assertThat(answer.headers().firstValue("X-KvIndex-Lag-Ms")).hasValue("1234");
    assertThat(answer.headers().firstValue("X-KvIndex-Degraded")).hasValue("%2A,a,b%0D%0AX%3A%20y");
    index.readable = false;
    assertThat(query("", SIX).statusCode()).isEqualTo(503);
    assertThat(query("", SIX).body()).contains("\"reason\":\"not_ready\"");
  }

  @Test
  void shouldNameAllThePoolServes_whenEventsOfAPoolAreLost() throws Exception {
    register("a", 0, 2);
    register("b", 0, 2);
    register("c", 0, 4);
    register("store", 0, 2, SourceType.MOONCAKE, null);
    assertThat(degraded("\"block_size\":2,")).isEmpty();
    index.degraded = Set.of(rank0("store"));
    assertThat(degraded("\"block_size\":2,")).hasValue("a,b,store");
    assertThat(query("\"block_size\":2,", SIX).headers().firstValue("X-KvIndex-State"))
        .hasValue("degraded");
    assertThat(degraded("\"block_size\":4,")).isEmpty();
    assertThat(query("\"block_size\":4,", SIX).headers().firstValue("X-KvIndex-State"))
        .hasValue("exact");
  }

  @Test
  void shouldSayAll_whenTheNamesAreTooManyForAHeader() throws Exception {
    for (int i = 0; i < 300; i++) {
      register("an-instance-with-a-name-" + i, 0, 2);
    }
    register("store", 0, 2, SourceType.MOONCAKE, null);
    index.degraded = Set.of(rank0("an-instance-with-a-name-7"));
    assertThat(degraded("")).hasValue("an-instance-with-a-name-7");
    index.degraded = Set.of(rank0("store"));
    assertThat(degraded("")).hasValue("*");
  }

  private Optional<String> degraded(String members) throws Exception {
    HttpResponse<String> answer = query(members, SIX);
    assertThat(answer.statusCode()).isEqualTo(200);
    return answer.headers().firstValue("X-KvIndex-Degraded");
  }
}
