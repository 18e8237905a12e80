// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchTraceTest {

  private static final BatchTrace TRACE =
      new BatchTrace(1_790_000_000_000_001L, 1_790_000_000_000_020L, 1_790_000_000_000_300L);

  private static @Nullable BatchTrace read(byte @Nullable [] value) {
    Header header = new RecordHeader(TRACE.header().key(), value);
    return BatchTrace.of(new RecordHeaders(new Header[] {header}));
  }

  @Test
  void shouldReadBackWhatWasWritten() {
    Header other = new RecordHeader("fingerprint", new byte[Long.BYTES]);
    RecordHeaders headers = new RecordHeaders(new Header[] {TRACE.header(), other});
    assertThat(BatchTrace.of(headers)).isEqualTo(TRACE);
  }

  @Test
  void shouldKeepItsBytes_whichAreInLogs() {
    assertThat(TRACE.header().key()).isEqualTo("trace");
    assertThat(new BatchTrace(1, 2, 3).header().value())
        .containsExactly(1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3);
  }

  @Test
  void shouldFindNone_whenTheRecordHasNone() {
    assertThat(BatchTrace.of(new RecordHeaders())).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 9, 24, 26, 200})
  void shouldFindNone_whenItIsOfAnotherLength(int length) {
    assertThat(read(Arrays.copyOf(TRACE.header().value(), length))).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 127, -1})
  void shouldFindNone_whenItIsOfAnotherVersion(int version) {
    byte[] value = TRACE.header().value().clone();
    value[0] = (byte) version;
    assertThat(read(value)).isNull();
  }

  @Test
  void shouldFindNone_whenItHasNoValueOrNoneThatCanBe() {
    assertThat(read(null)).isNull();
    assertThat(read(new BatchTrace(0, 2, 3).header().value())).isNull();
    assertThat(read(new BatchTrace(-5, 2, 3).header().value())).isNull();
    assertThat(read(new BatchTrace(3, 2, 4).header().value())).isNull();
    assertThat(read(new BatchTrace(1, 3, 2).header().value())).isNull();
  }
}
