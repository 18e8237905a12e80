// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against Jackson: what the scanner takes must be what Jackson reads; the rest it must leave. */
class TokenArrayScannerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String LEAD = "{\"token_ids\":[";
  private static final String[] ODD = {
    " ", ",", "]", "[", "-", ".", "e", "\n", "\t", "0", "\"", "}", "/", ":", "  ", ", ", ",,", ", ,"
  };
  private final QueryBody body = new QueryBody();

  @ParameterizedTest
  @ValueSource(strings = {",", ", "})
  void shouldTakeEveryToken_whenArrayIsPlain(String separator) {
    Random random = new Random(11);
    for (int round = 0; round < 20_000; round++) {
      long[] tokens = tokens(random, 1 + random.nextInt(60));
      String text = LEAD + text(tokens, separator) + "],\"model\":\"m\"}";

      int end = scan(text, random);

      assertThat(end).as(text).isEqualTo(text.indexOf(']') + 1);
      assertThat(body.count()).as(text).isEqualTo(tokens.length);
      for (int i = 0; i < tokens.length; i++) {
        assertThat(Integer.toUnsignedLong(body.tokens()[i])).as(text).isEqualTo(tokens[i]);
      }
    }
  }

  /** Also while the compiler replaces the loops under way by faster ones, again and again. */
  @Test
  void shouldTakeEveryToken_whenTheScannerIsBeingCompiled() {
    Random random = new Random(13);
    long[] tokens = random.longs(32_768, 0, 151_936).toArray();
    String text = LEAD + text(tokens, ",") + "]}";
    for (int round = 0; round < 3_000; round++) {
      assertThat(scan(text, random)).isEqualTo(text.length() - 1);
      assertThat(body.count()).isEqualTo(tokens.length);
      for (int i = 0; i < tokens.length; i++) {
        if (body.tokens()[i] != tokens[i]) {
          assertThat((long) body.tokens()[i])
              .as("round %d, token %d", round, i)
              .isEqualTo(tokens[i]);
        }
      }
    }
  }

  @Test
  void shouldTakeNothingThatJacksonReadsOtherwise_whenArrayIsMutated() {
    Random random = new Random(12);
    int taken = 0;
    for (int round = 0; round < 200_000; round++) {
      String plain = LEAD + text(tokens(random, 1 + random.nextInt(40)), ",") + "]}";
      StringBuilder mutated = new StringBuilder(plain);
      for (int i = random.nextInt(3); i >= 0; i--) {
        int at = LEAD.length() + random.nextInt(plain.length() - LEAD.length());
        String odd = ODD[random.nextInt(ODD.length)];
        mutated.replace(at, at + random.nextInt(2), odd);
      }
      String text = mutated.toString();

      int end = scan(text, random);

      if (end != TokenArrayScanner.UNUSUAL) {
        taken++;
        JsonNode array = array(text.substring(LEAD.length() - 1, end));
        assertThat(body.count()).as(text).isEqualTo(array.size());
        for (int i = 0; i < body.count(); i++) {
          assertThat(array.get(i).isIntegralNumber()).as(text).isTrue();
          assertThat(Integer.toUnsignedLong(body.tokens()[i]))
              .as(text)
              .isEqualTo(array.get(i).longValue());
        }
      }
    }
    assertThat(taken).isBetween(10_000, 190_000);
  }

  /** Scans with leftovers of an earlier, longer body behind the text. */
  private int scan(String text, Random random) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    byte[] padded = Arrays.copyOf(bytes, bytes.length + TokenArrayScanner.PADDING);
    for (int i = bytes.length; i < padded.length; i++) {
      padded[i] = (byte) "0123456789, ]".charAt(random.nextInt(13));
    }
    return TokenArrayScanner.scan(padded, LEAD.length(), bytes.length, 1 << 20, body);
  }

  private static long[] tokens(Random random, int count) {
    return random
        .longs(count, 0, 1L << 32)
        .map(token -> token >>> random.nextInt(33)) // every length from one digit to ten
        .toArray();
  }

  private static String text(long[] tokens, String separator) {
    StringBuilder text = new StringBuilder();
    for (long token : tokens) {
      text.append(text.isEmpty() ? "" : separator).append(token);
    }
    return text.toString();
  }

  private static JsonNode array(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError("taken, though Jackson refuses it: " + text, e);
    }
  }
}
