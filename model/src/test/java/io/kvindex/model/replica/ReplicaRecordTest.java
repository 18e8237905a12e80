// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.event.MalformedRecordException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaRecordTest {

  private static final byte[] KEY = utf8("index-1.kvindex:8090");

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static ReplicaRecord record(Map<Integer, Long> since) {
    return new ReplicaRecord(
        new ReplicaId("index-1.kvindex:8090", "index-1", "0.1.0"), new TreeMap<>(since));
  }

  @Test
  void shouldBeReadBack_whenWritten() {
    ReplicaRecord record = record(Map.of(0, 0L, 3, 512L));
    assertThat(new String(record.encode(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"v\":1,\"copy\":\"index-1\",\"partitions\":[0,3],\"since\":[0,512],"
                + "\"version\":\"0.1.0\"}");
    assertThat(ReplicaRecord.decode(KEY, record.encode())).isEqualTo(record);
  }

  @Test
  void shouldStayReadable_whateverOtherVersionsAdd() {
    byte[] later =
        utf8(
            "{\"v\":2,\"copy\":\"index-1\",\"partitions\":[0],\"version\":\"0.1.0\",\"zone\":[1]}");
    assertThat(ReplicaRecord.decode(KEY, later)).isEqualTo(record(Map.of(0, 0L)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "{}",
        "[1]",
        "{\"v\":1,\"copy\":\"a\"}",
        "{\"v\":1,\"copy\":\"a\",\"partitions\":[0,1],\"since\":[0]}",
        "{\"v\":1,\"copy\":\"a\",\"partitions\":[null],\"since\":[0]}"
      })
  void shouldBeRefused_whenItIsNone(String written) {
    assertThatThrownBy(() -> ReplicaRecord.decode(KEY, utf8(written)))
        .isInstanceOf(MalformedRecordException.class);
    assertThatThrownBy(() -> ReplicaRecord.decode(null, record(Map.of()).encode()))
        .isInstanceOf(MalformedRecordException.class);
  }
}
