// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.MalformedRecordException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SiteRecordTest {

  @Test
  void shouldBeReadBack_whenWritten() {
    SiteRecord record = record(3, Serving.DEFAULT);
    assertThat(SiteRecord.decode(record.encode())).isEqualTo(record);
    SiteRecord swapped = record.served(Serving.DEFAULT.next("kvindex-table-1"));
    assertThat(SiteRecord.decode(swapped.encode())).isEqualTo(swapped);
    assertThat(swapped.serving()).isEqualTo(new Serving(1, "kvindex-table-1"));
  }

  private static SiteRecord record(long epoch, Serving serving) {
    return new SiteRecord(epoch, Map.of("kvindex.events", "uLZ1rCk4Rr2YkM4E4lT0uA"), serving);
  }

  @Test
  void shouldBeWhatOlderProgramsWrote_whileTheDefaultServes() {
    assertThat(new String(record(2, Serving.DEFAULT).encode(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"v\":1,\"epoch\":2,\"topics\":{\"kvindex.events\":\"uLZ1rCk4Rr2YkM4E4lT0uA\"}}");
  }

  @Test
  void shouldGiveWayToTheLaterEpochAndThenToTheLaterChange() {
    SiteRecord first = record(1, Serving.DEFAULT);
    SiteRecord swapped = first.served(Serving.DEFAULT.next("a"));
    SiteRecord back = swapped.served(swapped.serving().next(Serving.DEFAULT_APPLICATION));
    assertThat(swapped.isNewerThan(first)).isTrue();
    assertThat(first.isNewerThan(swapped)).isFalse();
    assertThat(back.isNewerThan(swapped)).isTrue();
    assertThat(record(2, Serving.DEFAULT).isNewerThan(back)).isTrue();
  }

  @Test
  void shouldStayReadable_whateverLaterVersionsAdd() {
    byte[] written =
        "{\"v\":1,\"epoch\":2,\"topics\":{\"t\":\"i\"},\"more\":[1]}"
            .getBytes(StandardCharsets.UTF_8);
    assertThat(SiteRecord.decode(written))
        .isEqualTo(new SiteRecord(2, Map.of("t", "i"), Serving.DEFAULT));
  }

  @Test
  void shouldBeMalformed_whenItIsNone() {
    assertThatThrownBy(() -> SiteRecord.decode(new byte[] {1}))
        .isInstanceOf(MalformedRecordException.class);
    assertThatThrownBy(() -> SiteRecord.decode("{\"v\":1}".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(MalformedRecordException.class);
    String nameless = "{\"v\":2,\"epoch\":2,\"topics\":{},\"serving\":{\"number\":1}}";
    assertThatThrownBy(() -> SiteRecord.decode(nameless.getBytes(StandardCharsets.UTF_8)))
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
