// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

class MsgPackCursorTest {

  @Test
  void shouldReadWhatAnotherPackerWrote_whenIntegersOfAllWidths() throws IOException {
    Random random = Fuzz.random(MsgPackCursorTest.class);
    for (int i = 0; i < 100_000; i++) {
      long value = random.nextLong() >> random.nextInt(Long.SIZE);
      try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
        if (random.nextBoolean()) {
          packer.packLong(value);
        } else {
          packer.packBigInteger(new BigInteger(Long.toUnsignedString(value)));
        }
        MsgPackCursor cursor = cursor(packer.toByteArray());
        assertThat(cursor.readLong()).isEqualTo(value);
        assertThat(cursor.atEnd()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "07, 1",
    "ff, 1",
    "cc01, 2",
    "d0ff, 2",
    "cd0001, 3",
    "d1ffff, 3",
    "ce00000001, 5",
    "d2ffffffff, 5",
    "cf0000000000000001, 9",
    "d3ffffffffffffffff, 9",
    "ca00000000, 5",
    "cb0000000000000000, 9",
    "c0, 1",
    "c2, 1",
    "c3, 1",
    "a0, 1",
    "a161, 2",
    "d90161, 3",
    "da000161, 4",
    "db0000000161, 6",
    "c40161, 3",
    "c5000161, 4",
    "c60000000161, 6",
    "90, 1",
    "9107, 2",
    "dc000107, 4",
    "dd0000000107, 6",
    "80, 1",
    "81a16107, 4",
    "de0001a16107, 6",
    "df00000001a16107, 8",
    "d40161, 3",
    "d5016161, 4",
    "d60161616161, 6",
    "d7016161616161616161, 10",
    "d80161616161616161616161616161616161, 18",
    "c7010561, 4",
    "c800010561, 5",
    "c9000000010561, 7"
  })
  void shouldStepOverExactlyOneValue_whenAnyFormat(String hex, int size) {
    byte[] bytes = HexFormat.of().parseHex(hex + "c1");
    MsgPackCursor cursor = cursor(bytes);
    cursor.skip();
    assertThat(cursor.position()).isEqualTo(size);
  }

  @ParameterizedTest
  @CsvSource({
    "c1, NOT_MSGPACK", "dd80000000c0, TRUNCATED", "ddffffffff, TRUNCATED", "dfffffffff, TRUNCATED",
    "c67fffffff00, TRUNCATED", "dbffffffff00, TRUNCATED", "c9ffffffff00, TRUNCATED", "c7, TRUNCATED"
  })
  void shouldRefuseWithoutAllocating_whenLengthsLie(String hex, RejectReason reason) {
    MsgPackCursor cursor = cursor(HexFormat.of().parseHex(hex));
    assertThatThrownBy(cursor::skip).isInstanceOf(StructureFault.class).hasMessage(reason.label());
  }

  @Test
  void shouldBoundNesting_whenArraysHoldArrays() {
    byte[] deepest = new byte[MsgPackCursor.MAX_DEPTH + 1];
    java.util.Arrays.fill(deepest, (byte) 0x91);
    deepest[deepest.length - 1] = (byte) 0xc0;
    cursor(deepest).skip();

    byte[] tooDeep = new byte[MsgPackCursor.MAX_DEPTH + 2];
    java.util.Arrays.fill(tooDeep, (byte) 0x91);
    tooDeep[tooDeep.length - 1] = (byte) 0xc0;
    assertThatThrownBy(cursor(tooDeep)::skip).hasMessage("too_deep");
  }

  private static MsgPackCursor cursor(byte[] bytes) {
    return new MsgPackCursor(bytes, 0, bytes.length);
  }
}
