// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.event.MalformedRecordException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaRecordTest {

  private static final byte[] KEY = utf8("index-1.kvindex:8090");

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static ReplicaRecord record(Integer... partitions) {
    return new ReplicaRecord(
        new ReplicaId("index-1.kvindex:8090", "index-1", "0.1.0"),
        new TreeSet<>(Set.of(partitions)));
  }

  @Test
  void shouldBeReadBack_whenWritten() {
    ReplicaRecord record = record(0, 3);
    assertThat(new String(record.encode(), StandardCharsets.UTF_8))
        .isEqualTo("{\"v\":1,\"copy\":\"index-1\",\"partitions\":[0,3],\"version\":\"0.1.0\"}");
    assertThat(ReplicaRecord.decode(KEY, record.encode())).isEqualTo(record);
  }

  @Test
  void shouldStayReadable_whateverOtherVersionsAdd() {
    byte[] later =
        utf8(
            "{\"v\":2,\"copy\":\"index-1\",\"partitions\":[0],\"version\":\"0.1.0\",\"zone\":[1]}");
    assertThat(ReplicaRecord.decode(KEY, later)).isEqualTo(record(0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "{}",
        "[1]",
        "{\"v\":1,\"copy\":\"a\"}",
        "{\"v\":1,\"copy\":\"a\",\"partitions\":[null]}"
      })
  void shouldBeRefused_whenItIsNone(String written) {
    assertThatThrownBy(() -> ReplicaRecord.decode(KEY, utf8(written)))
        .isInstanceOf(MalformedRecordException.class);
    assertThatThrownBy(() -> ReplicaRecord.decode(null, record().encode()))
        .isInstanceOf(MalformedRecordException.class);
  }
}
