// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.quarantine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.MalformedRecordException;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class QuarantineCodecTest {

  private static final QuarantinedFrame FRAME =
      new QuarantinedFrame(
          new Incarnation(3, 7, 0), -2, 1_000_001, "truncated", 2, new byte[] {1, 2});

  /** Written by version 1: must stay readable. */
  private static final String VERSION_1 =
      "01060e00feffffffffffffffff0182897a0a7472756e63617465640201" + "0102";

  @Test
  void shouldReadWhatItWrote_whenBytesAreKept() {
    assertThat(HexFormat.of().formatHex(QuarantineCodec.encode(FRAME))).isEqualTo(VERSION_1);
    assertThat(QuarantineCodec.decode(HexFormat.of().parseHex(VERSION_1)))
        .usingRecursiveComparison()
        .isEqualTo(FRAME);
  }

  @Test
  void shouldReadWhatItWrote_whenBytesAreNotKept() {
    QuarantinedFrame bare = FRAME.withoutPayload();
    assertThat(bare.isKept()).isFalse();
    assertThat(QuarantineCodec.decode(QuarantineCodec.encode(bare)))
        .usingRecursiveComparison()
        .isEqualTo(bare);
  }

  @Test
  void shouldRefuse_whenCutAnywhere() {
    byte[] whole = QuarantineCodec.encode(FRAME);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> QuarantineCodec.decode(cut))
          .isInstanceOf(MalformedRecordException.class);
    }
  }
}
