// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class IdentityTest {

  @ParameterizedTest
  @CsvSource({
    "a,b,0,a|b|0",
    "a|b,c,1,a\\|b|c|1",
    "'a\\',|,2,a\\\\|\\||2",
    "ü,default,3,ü|default|3"
  })
  void shouldReadItsKeyBack_whenNamesHoldTheSeparator(
      String instance, String tenant, int rank, String key) {
    PublisherId id = new PublisherId(instance, tenant, rank);
    assertThat(id.key()).isEqualTo(key);
    assertThat(PublisherId.parse(key)).isEqualTo(id);
    assertThat(StreamId.parse(StreamId.of(id).key())).isEqualTo(StreamId.of(id));
    StreamId standard = new StreamId(id, "m/64//lora/default/b/gpu/0");
    assertThat(StreamId.parse(standard.key())).isEqualTo(standard);
  }

  @Test
  void shouldRefuse_whenAPublisherHasNoName() {
    assertThatThrownBy(() -> new PublisherId("", "t", 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new PublisherId("i", "t", -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldOrderByGenerationThenLifeThenClears_whenComparingIncarnations() {
    Incarnation first = new Incarnation(1, 5, 2);
    assertThat(first.cleared()).isGreaterThan(first);
    assertThat(new Incarnation(1, 6, 0)).isGreaterThan(first.cleared());
    assertThat(new Incarnation(2, 0, 0)).isGreaterThan(new Incarnation(1, 6, 0));
    assertThat(Incarnation.NONE).isLessThan(new Incarnation(0, 0, 0));
  }
}
