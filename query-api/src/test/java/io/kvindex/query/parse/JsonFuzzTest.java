// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.error.ApiException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the fast scanner accepts, the Jackson reader reads the same; else Jackson decides alone. */
class JsonFuzzTest {
  private static final int MAX_ITEMS = 40;
  private static final String MESSAGE = " because ";
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
    "18446744073709551616",
    "\"model_name\":\"d\",",
    "\"model_name\":null,",
    "\"model\":null,",
    "\"instance_id\":7,",
    "\"routing_group\":\"acme\",",
    "\"routing_group\":\"\",",
    "\"tenant_id\":\"g\",",
    "\"cache_salt\":\"s\",",
    "\"lora_id\":1,",
    "\"block_hashes\":[1],",
    "\"token_ids\":null,",
    "\\u0041",
    "\\ud800",
    "\\ud83d\\ude00"
  };

  @Test
  void shouldGiveSameValueOrRefusal_whenBodiesAreGeneratedAndMutated() {
    FuzzInputs fuzz = FuzzInputs.of(JsonFuzzTest.class, 30_000);
    Random random = fuzz.random;
    FastBodyScanner fast = new FastBodyScanner();
    QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
    QueryBody reused = new QueryBody();
    int accepted = 0;
    int refused = 0;
    int dynamo = 0;
    for (int i = 0; i < fuzz.count; i++) {
      QueryForm form = fuzz.pick(QueryForm.values());
      byte[] text = mutated(random, GeneratedBody.any(random, form));
      byte[] padded = padded(random, text);
      String expected = bySlowReader(text, form);
      assertThat(outcome(() -> parser.parse(padded, text.length, form, reused), reused, form, true))
          .as("body %s", new String(text, StandardCharsets.UTF_8))
          .isEqualTo(expected);
      assertThat(inBatch(parser, padded, text.length, form, reused))
          .as("in a batch %s", new String(text, StandardCharsets.UTF_8))
          .isEqualTo(withoutMessage(expected));
      QueryBody body = new QueryBody();
      if (fast.scan(padded, 0, text.length, form, MAX_ITEMS, body)) {
        assertThat(body.dialect() + " " + describe(body, form)).isEqualTo(expected);
        accepted++;
      }
      refused += isRefused(expected) ? 1 : 0;
      dynamo += expected.startsWith("DYNAMO") ? 1 : 0;
    }
    assertThat(accepted).as("fast of %d", fuzz.count).isGreaterThan(fuzz.count / 5);
    assertThat(refused).as("refused of %d", fuzz.count).isGreaterThan(fuzz.count / 10);
    assertThat(dynamo).as("Dynamo's of %d", fuzz.count).isGreaterThan(fuzz.count / 5);
  }

  @Test
  void shouldReadWhatWasWritten_whenBodiesAreWellFormed() {
    FuzzInputs fuzz = FuzzInputs.of(JsonFuzzTest.class, 20_000);
    FastBodyScanner fast = new FastBodyScanner();
    QueryBody body = new QueryBody();
    for (int i = 0; i < fuzz.count; i++) {
      QueryForm form = fuzz.pick(QueryForm.values());
      GeneratedBody written = GeneratedBody.any(fuzz.random, form);
      byte[] text = written.text().getBytes(StandardCharsets.UTF_8);
      assertThat(fast.scan(padded(fuzz.random, text), 0, text.length, form, MAX_ITEMS, body))
          .as(written.text())
          .isTrue();
      assertThat(describe(body, form)).as(written.text()).isEqualTo(written.expected());
    }
  }

  /** The same bytes somewhere within a buffer; messages name the place and so differ. */
  private static String inBatch(
      QueryBodyParser parser, byte[] padded, int length, QueryForm form, QueryBody into) {
    byte[] whole = new byte[padded.length + 24];
    Arrays.fill(whole, (byte) '7');
    System.arraycopy(padded, 0, whole, 24, padded.length);
    return outcome(() -> parser.parse(whole, 24, 24 + length, form, into), into, form, false);
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
    QueryBody body = new QueryBody();
    return outcome(
        () -> JacksonBodyReader.read(text, 0, text.length, form, MAX_ITEMS, body),
        body,
        form,
        true);
  }

  /** Dialect, and values or refusal. */
  static String outcome(Runnable parse, QueryBody body, QueryForm form, boolean message) {
    try {
      parse.run();
      return body.dialect() + " " + describe(body, form);
    } catch (ApiException e) {
      String refusal = " refused " + e.code() + " " + e.field() + " " + e.index();
      return body.dialect() + refusal + (message ? MESSAGE + e.getMessage() : "");
    }
  }

  private static String withoutMessage(String outcome) {
    return isRefused(outcome) ? outcome.replaceFirst("(?s)" + MESSAGE + ".*", "") : outcome;
  }

  static boolean isRefused(String outcome) {
    return outcome.contains(" refused ");
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
