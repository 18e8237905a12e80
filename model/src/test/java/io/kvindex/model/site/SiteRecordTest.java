// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SiteRecordTest {

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void shouldBeReadBack_whenWritten() {
    SiteRecord record = new SiteRecord(3, Map.of("kvindex.events", "uLZ1rCk4Rr2YkM4E4lT0uA"));
    assertThat(SiteRecord.decode(record.encode())).isEqualTo(record);
    assertThat(record.encode())
        .isEqualTo(
            utf8(
                "{\"v\":1,\"epoch\":3,\"topics\":{\"kvindex.events\":\"uLZ1rCk4Rr2YkM4E4lT0uA\"}}"));
  }

  @Test
  void shouldGiveWayToTheLaterEpoch() {
    SiteRecord first = new SiteRecord(1, Map.of());
    SiteRecord second = new SiteRecord(2, Map.of());
    assertThat(second.isNewerThan(first)).isTrue();
    assertThat(first.isNewerThan(second)).isFalse();
    assertThat(first.isNewerThan(first)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"v\":1,\"epoch\":2,\"topics\":{\"t\":\"i\"},\"more\":[1]}",
        "{\"v\":2,\"epoch\":2,\"topics\":{\"t\":\"i\"},\"serving\":{\"number\":1,\"application\":\"a\"}}"
      })
  void shouldStayReadable_whateverOtherVersionsAdd(String written) {
    assertThat(SiteRecord.decode(utf8(written))).isEqualTo(new SiteRecord(2, Map.of("t", "i")));
  }

  @Test
  void shouldBeMalformed_whenItIsNone() {
    assertThatThrownBy(() -> SiteRecord.decode(new byte[] {1}))
        .isInstanceOf(MalformedRecordException.class);
    assertThatThrownBy(() -> SiteRecord.decode(utf8("{\"v\":1}")))
        .isInstanceOf(MalformedRecordException.class);
  }

  @Test
  void shouldHaveAKeyNoPublisherHas() {
    assertThat(SiteRecord.isKey(SiteRecord.key())).isTrue();
    assertThat(SiteRecord.isKey("e|default|0".getBytes(StandardCharsets.UTF_8))).isFalse();
    assertThat(SiteRecord.isKey(null)).isFalse();
    assertThatThrownBy(
            () -> PublisherId.parse(new String(SiteRecord.key(), StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
