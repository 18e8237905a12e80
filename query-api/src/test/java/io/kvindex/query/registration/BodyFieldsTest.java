// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.error.ApiException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Names of a registration travel with every event, so that one too long would stop them all. */
class BodyFieldsTest {

  @Test
  void shouldRefuse_whenANameIsLongerThanARecordHasRoomFor() {
    assertThat(parse("{\"a\":\"" + "x".repeat(4_096) + "\"}").text("a")).hasSize(4_096);
    assertThatThrownBy(() -> parse("{\"a\":\"" + "x".repeat(4_097) + "\"}").text("a"))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("`a` must have 4096 characters at most, got 4097");
  }

  @Test
  void shouldRefuse_whenAListIsLongerThanARecordHasRoomFor() {
    String most = "\"" + "x".repeat(65_535) + "\"";
    assertThat(parse("{\"a\":[\"y\"," + most + "]}").texts("a")).hasSize(2);
    assertThatThrownBy(() -> parse("{\"a\":[\"yz\"," + most + "]}").texts("a"))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("`a` must have 65536 characters at most");
  }

  @Test
  void shouldRefuse_whenANameHasHalfASurrogatePair() {
    assertThat(parse("{\"a\":\"\\ud83d\\ude00\"}").text("a")).hasSize(2);
    for (String half : new String[] {"\\ud83d", "x\\ude00", "\\ude00\\ud83d", "\\ud83dx"}) {
      assertThatThrownBy(() -> parse("{\"a\":\"" + half + "\"}").text("a"))
          .isInstanceOf(ApiException.class)
          .hasMessageContaining("half a surrogate pair");
    }
  }

  private static BodyFields parse(String body) {
    return BodyFields.parse(body.getBytes(StandardCharsets.UTF_8));
  }
}
