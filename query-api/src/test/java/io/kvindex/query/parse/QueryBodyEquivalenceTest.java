// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.error.ApiException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the fast scanner accepts, the Jackson reader reads the same; else Jackson decides alone. */
class QueryBodyEquivalenceTest {
  private static final int BODIES = 200_000;
  private static final int MAX_ITEMS = 40;
  private static final String[] SPLICES = {
    "\"",
    "\\",
    ",",
    ":",
    "[",
    "]",
    "{",
    "}",
    "-",
    ".",
    "e",
    "0",
    "00",
    "9999999999",
    " ",
    "\n",
    "null",
    "true",
    "\"model\":\"x\"",
    "\"token_ids\":[1]",
    "4294967295",
    "4294967296",
    "\u00e9",
    "-1",
    "\"a\":1,",
    "\"min_event\":7,",
    "\"min_event\":{\"instance_id\":\"i\",\"event_id\":3},",
    "0x",
    "\u0000",
    "18446744073709551615",
    "18446744073709551616"
  };

  @Test
  void shouldGiveSameValueOrRefusal_whenBodiesAreGeneratedAndMutated() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    FastBodyScanner fast = new FastBodyScanner();
    QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < BODIES; i++) {
      QueryForm form = random.nextBoolean() ? QueryForm.TOKENS : QueryForm.HASHES;
      byte[] text = mutated(random, GeneratedBody.next(random, form));
      byte[] padded = padded(random, text);
      String expected = bySlowReader(text, form);
      assertThat(outcome(() -> whole(parser, padded, text.length, form)))
          .as("body %s", new String(text, StandardCharsets.UTF_8))
          .isEqualTo(expected);
      QueryBody body = new QueryBody();
      if (fast.scan(padded, 0, text.length, form, MAX_ITEMS, body)) {
        assertThat(describe(body, form)).isEqualTo(expected);
        accepted++;
      }
      refused += expected.startsWith("refused") ? 1 : 0;
    }
    System.out.printf("fast %d, refused %d of %d%n", accepted, refused, BODIES);
    assertThat(accepted).isGreaterThan(BODIES / 5);
    assertThat(refused).isGreaterThan(BODIES / 10);
  }

  @Test
  void shouldReadWhatWasWritten_whenBodiesAreWellFormed() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    FastBodyScanner fast = new FastBodyScanner();
    QueryBody body = new QueryBody();
    for (int i = 0; i < 20_000; i++) {
      QueryForm form = random.nextBoolean() ? QueryForm.TOKENS : QueryForm.HASHES;
      GeneratedBody written = GeneratedBody.next(random, form);
      byte[] text = written.text().getBytes(StandardCharsets.UTF_8);
      assertThat(fast.scan(padded(random, text), 0, text.length, form, MAX_ITEMS, body))
          .as(written.text())
          .isTrue();
      assertThat(describe(body, form)).as(written.text()).isEqualTo(written.expected());
    }
  }

  private static byte[] mutated(Random random, GeneratedBody body) {
    StringBuilder text = new StringBuilder(body.text());
    for (int n = random.nextInt(3); n > 0 && text.length() > 0; n--) {
      int at = random.nextInt(text.length());
      switch (random.nextInt(4)) {
        case 0 -> text.deleteCharAt(at);
        case 1 -> text.insert(at, SPLICES[random.nextInt(SPLICES.length)]);
        case 2 -> text.setCharAt(at, (char) random.nextInt(128));
        default -> text.setLength(random.nextInt(4) == 0 ? at : text.length());
      }
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Garbage behind the text, as a reused buffer has it: often what would continue the body. */
  private static byte[] padded(Random random, byte[] text) {
    byte[] padded = Arrays.copyOf(text, text.length + QueryBodyParser.PADDING);
    String leftover = random.nextBoolean() ? "0123456789]}},,\"" : "]}\n  ,1,2,3]}";
    for (int i = text.length; i < padded.length; i++) {
      padded[i] = (byte) leftover.charAt((i - text.length) % leftover.length());
    }
    return padded;
  }

  private static String bySlowReader(byte[] text, QueryForm form) {
    return outcome(
        () -> {
          QueryBody body = new QueryBody();
          JacksonBodyReader.read(text, 0, text.length, form, MAX_ITEMS, body);
          return describe(body, form);
        });
  }

  private static String whole(QueryBodyParser parser, byte[] padded, int length, QueryForm form) {
    QueryBody body = new QueryBody();
    parser.parse(padded, length, form, body);
    return describe(body, form);
  }

  private static String outcome(java.util.function.Supplier<String> parse) {
    try {
      return parse.get();
    } catch (ApiException e) {
      return "refused " + e.code() + " " + e.field() + " " + e.index() + " " + e.getMessage();
    }
  }

  static String describe(QueryBody body, QueryForm form) {
    String items =
        form == QueryForm.TOKENS
            ? Arrays.toString(Arrays.copyOf(body.tokens(), body.count()))
            : Arrays.toString(Arrays.copyOf(body.hashes(), body.count()));
    return String.join(
        "|",
        body.model(),
        "" + body.blockSize(),
        body.tenant(),
        body.loraName(),
        "" + body.loraId(),
        body.cacheSalt(),
        "" + body.instanceId() + (body.minEvent() == null ? "" : body.minEvent()),
        items);
  }
}
