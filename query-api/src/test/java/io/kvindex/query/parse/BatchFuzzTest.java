// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The splitting of batches against Jackson. A body that is JSON gives the same queries with the
 * same values or refusals; one that is not is refused, or a query of it is.
 */
class BatchFuzzTest {
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
    "null",
    "nope",
    "1",
    " ",
    "\n",
    "\"queries\":[],",
    "\"queries\":null,",
    "\"x\":{\"queries\":[1]},",
    "\"x\":\"]}\",",
    "\"token_ids\":null,",
    "\"seq_hashes\":[1],",
    "\"\\u0074oken_ids\":[1],",
    "\"\\u0071ueries\":[],",
    "{},",
    "5,",
    "\u0001"
  };

  private final ObjectMapper mapper = new ObjectMapper();
  private final FuzzInputs fuzz = FuzzInputs.of(BatchFuzzTest.class, 20_000);

  private record Split(List<String> answers, @Nullable String refusal) {}

  @Test
  void shouldGiveSameQueries_whenBatchesAreGeneratedAndMutated() throws IOException {
    QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
    BatchScanner scanner = new BatchScanner();
    QueryBody reused = new QueryBody();
    int valid = 0;
    int split = 0;
    for (int i = 0; i < fuzz.count; i++) {
      byte[] text = mutated(generated()).getBytes(StandardCharsets.UTF_8);
      byte[] padded = Arrays.copyOf(text, text.length + QueryBodyParser.PADDING);
      Arrays.fill(
          padded, text.length, padded.length, (byte) fuzz.pick(']', '}', '"', '1').charValue());
      Split found = byScanner(scanner, parser, padded, text.length, reused);
      String body = new String(text, StandardCharsets.UTF_8);
      if (isJson(text)) {
        assertThat(found).as(body).isEqualTo(byJackson(text));
        valid++;
        split += found.answers().size();
      } else if (found.refusal() == null) {
        assertThat(found.answers()).as(body).anyMatch(JsonFuzzTest::isRefused);
      }
    }
    assertThat(valid).as("valid of %d", fuzz.count).isGreaterThan(fuzz.count / 3);
    assertThat(split).as("queries of %d", fuzz.count).isGreaterThan(fuzz.count / 2);
  }

  private String generated() {
    List<String> queries = new ArrayList<>();
    for (int i = fuzz.random.nextInt(4); i > 0; i--) {
      queries.add(
          GeneratedBody.any(fuzz.random, fuzz.pick(QueryForm.TOKENS, QueryForm.HASHES)).text());
    }
    String array = "[" + String.join(fuzz.pick(",", " , ", ",\n"), queries) + "]";
    String more = fuzz.oneIn(4) ? fuzz.pick("\"x\":1.5e3,", "\"y\":[{\"queries\":[{}]}],") : "";
    return "{" + more + "\"queries\":" + array + fuzz.pick("}", " }", ",\"z\":\"\\\"]\"}");
  }

  private String mutated(String body) {
    StringBuilder text = new StringBuilder(body);
    for (int n = fuzz.random.nextInt(3); n > 0 && text.length() > 0; n--) {
      int at = fuzz.random.nextInt(text.length());
      switch (fuzz.random.nextInt(4)) {
        case 0 -> text.deleteCharAt(at);
        case 1 -> text.insert(at, fuzz.pick(SPLICES));
        case 2 -> {
          int member = text.indexOf("{", at);
          text.insert(member < 0 ? at : member + 1, fuzz.pick(SPLICES));
        }
        default -> text.setCharAt(at, (char) fuzz.random.nextInt(128));
      }
    }
    return text.toString();
  }

  private static Split byScanner(
      BatchScanner scanner, QueryBodyParser parser, byte[] padded, int length, QueryBody into) {
    List<String> answers = new ArrayList<>();
    int count;
    try {
      count = scanner.split(padded, length);
    } catch (ApiException e) {
      return new Split(answers, e.code() + " " + e.field());
    }
    for (int i = 0; i < count; i++) {
      int query = i;
      try {
        QueryForm form = scanner.form(i);
        answers.add(
            JsonFuzzTest.outcome(
                () -> parser.parse(padded, scanner.from(query), scanner.to(query), form, into),
                into,
                form,
                false));
      } catch (ApiException e) {
        answers.add(" refused " + e.code() + " " + e.field());
      }
    }
    return new Split(answers, null);
  }

  private boolean isJson(byte[] text) {
    try (JsonParser json = JacksonBodyReader.JSON.createParser(text)) {
      int depth = 0;
      JsonToken token = json.nextToken();
      if (token != JsonToken.START_OBJECT) {
        return false;
      }
      for (; token != null; token = json.nextToken()) {
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        json.getText();
        if (depth == 0 && json.nextToken() != null) {
          return false;
        }
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Of a body that is JSON. */
  private Split byJackson(byte[] text) throws IOException {
    List<String> answers = new ArrayList<>();
    boolean found = false;
    try (JsonParser json = JacksonBodyReader.JSON.createParser(text)) {
      json.nextToken();
      while (json.nextToken() != JsonToken.END_OBJECT) {
        boolean queries = json.currentName().equals("queries");
        JsonToken value = json.nextToken();
        if (queries && value == JsonToken.VALUE_NULL) {
          found = false;
          continue;
        } else if (!queries) {
          json.skipChildren();
          continue;
        } else if (value != JsonToken.START_ARRAY) {
          return new Split(List.of(), ErrorCode.INVALID_TYPE + " queries");
        }
        found = true;
        answers.clear();
        while (json.nextToken() != JsonToken.END_ARRAY) {
          answers.add(query(json, text));
        }
      }
    }
    return found ? new Split(answers, null) : new Split(List.of(), ErrorCode.MISSING + " queries");
  }

  private String query(JsonParser json, byte[] text) throws IOException {
    int from = (int) json.currentTokenLocation().getByteOffset();
    json.skipChildren();
    json.finishToken();
    int to = (int) json.currentLocation().getByteOffset();
    JsonNode tree = mapper.readTree(text, from, to - from);
    boolean tokens = tree.hasNonNull("token_ids");
    boolean hashes =
        tree.hasNonNull("seq_hashes")
            || tree.hasNonNull("block_hash")
            || tree.hasNonNull("block_hashes");
    if (tokens && hashes) {
      return " refused " + ErrorCode.CONFLICTING_FIELDS + " token_ids";
    }
    QueryForm form = hashes ? QueryForm.HASHES : QueryForm.TOKENS;
    QueryBody body = new QueryBody();
    return JsonFuzzTest.outcome(
        () -> JacksonBodyReader.read(text, from, to - from, form, MAX_ITEMS, body),
        body,
        form,
        false);
  }
}
