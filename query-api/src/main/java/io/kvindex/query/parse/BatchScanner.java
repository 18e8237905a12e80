// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import com.fasterxml.jackson.core.JsonParser;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.error.MalformedJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Finds the queries in {@code {"queries":[...]}} without reading them: only quotes and brackets are
 * looked at, so that a query that is no JSON spoils no other one. Not thread-safe.
 */
public final class BatchScanner {
  /** Most queries of a batch. */
  public static final int MAX_QUERIES = 256;

  private static final String FIELD = "queries";
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long ONES = 0x0101010101010101L;
  private static final long LETTERS = 0x4040404040404040L;
  private static final long QUOTES = 0x2222222222222222L;
  private static final int TOKENS = 1;
  private static final int HASHES = 2;

  private final int[] from = new int[MAX_QUERIES];
  private final int[] to = new int[MAX_QUERIES];
  private final int[] items = new int[MAX_QUERIES];
  private byte[] text = {};
  private int at;
  private int end;
  private int count;
  private boolean found;
  private int listAt;
  private int listEnd;

  /**
   * Splits a body.
   *
   * @param body readable for {@link QueryBodyParser#PADDING} bytes beyond {@code length}
   * @return number of queries, at most {@link #MAX_QUERIES}
   * @throws ApiException where the frame around the queries is no such thing
   */
  public int split(byte[] body, int length) {
    text = body;
    at = 0;
    end = length;
    count = 0;
    found = false;
    expect('{');
    if (!next('}')) {
      do {
        member();
      } while (next(','));
      expect('}');
    }
    skipBlanks();
    if (at < end) {
      throw malformed("unexpected text after the JSON object");
    }
    if (!found) {
      throw ErrorCode.missing(FIELD);
    }
    return count;
  }

  /** Where a query begins, counted from the body's first byte. */
  public int from(int query) {
    return from[query];
  }

  /** Where it ends, exclusive. */
  public int to(int query) {
    return to[query];
  }

  /**
   * What it asks for, told by the member that holds its tokens or hashes.
   *
   * @throws ApiException if it has both
   */
  public QueryForm form(int query) {
    if (items[query] == (TOKENS | HASHES)) {
      throw ErrorCode.CONFLICTING_FIELDS.of(
          "token_ids", "a query of a batch has either `token_ids` or hashes, not both");
    }
    return items[query] == HASHES ? QueryForm.HASHES : QueryForm.TOKENS;
  }

  private void member() {
    skipBlanks();
    int name = at;
    skipString();
    boolean queries = FIELD.equals(text(name, at));
    if (queries && found) {
      check(listAt, listEnd); // overridden, so that nobody reads what is in it
    }
    expect(':');
    skipBlanks();
    if (!queries || at < end && text[at] == 'n') {
      int value = at;
      skipValue();
      check(value, at);
      found &= !queries; // null is absent, also where it overrides
      return;
    }
    listAt = at;
    if (!next('[')) {
      throw ErrorCode.INVALID_TYPE.of(FIELD, "`queries` must be an array");
    }
    found = true;
    count = 0; // of a repeated member the last one counts
    if (!next(']')) {
      do {
        query();
      } while (next(','));
      expect(']');
    }
    listEnd = at;
  }

  /** The text of a string with its quotes. */
  private String text(int start, int stop) {
    try (JsonParser json = JacksonBodyReader.JSON.createParser(text, start, stop - start)) {
      json.nextToken();
      return json.getText();
    } catch (IOException e) {
      throw MalformedJson.of(e);
    }
  }

  /** What is not a query is not read by anybody else. */
  private void check(int start, int stop) {
    try (JsonParser json = JacksonBodyReader.JSON.createParser(text, start, stop - start)) {
      json.nextToken();
      json.skipChildren();
      json.finishToken();
      if (json.nextToken() != null) {
        throw malformed("one value expected");
      }
    } catch (IOException e) {
      throw MalformedJson.of(e);
    }
  }

  private void query() {
    if (count == MAX_QUERIES) {
      throw ErrorCode.TOO_MANY_ITEMS.element(
          FIELD, count, "a batch has " + count + " queries at most");
    }
    skipBlanks();
    from[count] = at;
    items[count] = 0;
    skipValue();
    to[count] = at;
    count++;
  }

  private void skipValue() {
    int start = at;
    if (at < end && text[at] == '"') {
      skipString();
    } else if (at < end && (text[at] == '{' || text[at] == '[')) {
      skipNested();
    } else {
      while (at < end && text[at] > ' ' && ",]}".indexOf(text[at]) < 0) {
        at++;
      }
    }
    if (at == start) {
      throw malformed("a value is missing");
    }
  }

  private void skipNested() {
    int depth = 0;
    while (at < end) {
      while (at + Long.BYTES <= end && isPlain(Digits.word(text, at))) {
        at += Long.BYTES;
      }
      switch (at < end ? text[at] : 0) {
        case '{', '[' -> depth++;
        case '}', ']' -> depth--;
        case '"' -> {
          int name = at + 1;
          skipString();
          if (depth == 1 && count < MAX_QUERIES) {
            note(name, at - 1);
          }
          continue;
        }
        default -> {}
      }
      at++;
      if (depth == 0) {
        return;
      }
    }
    throw malformed("it ends within a query");
  }

  /** Eight bytes without a quote or a bracket; says no to letters too, which is no harm. */
  private static boolean isPlain(long word) {
    long quotes = word ^ QUOTES;
    return (word & LETTERS) == 0 && ((quotes - ONES) & ~quotes & HIGH_BITS) == 0;
  }

  private void note(int name, int nameEnd) {
    int back = at;
    if (!next(':')) {
      at = back;
      return;
    }
    skipBlanks();
    int mask =
        switch (memberOf(name, nameEnd)) {
          case TOKENS -> TOKENS;
          case HASHES, BLOCK_HASHES -> HASHES;
          default -> 0;
        };
    boolean absent = at < end && text[at] == 'n';
    items[count] = absent ? items[count] & ~mask : items[count] | mask;
  }

  private Member memberOf(int name, int nameEnd) {
    for (int i = name; i < nameEnd; i++) {
      if (text[i] == '\\') { // rare: nobody needs escapes in these names
        byte[] plain = escaped(name, nameEnd);
        return Member.of(plain, 0, plain.length);
      }
    }
    return Member.of(text, name, nameEnd);
  }

  private byte[] escaped(int name, int nameEnd) {
    try {
      return text(name - 1, nameEnd + 1).getBytes(StandardCharsets.UTF_8);
    } catch (ApiException e) {
      return new byte[0]; // whoever reads the query refuses it
    }
  }

  private void skipString() {
    expect('"');
    while (at < end && text[at] != '"') {
      at += text[at] == '\\' ? 2 : 1;
    }
    if (at >= end) {
      throw malformed("a string does not end");
    }
    at++;
  }

  private boolean next(char wanted) {
    skipBlanks();
    if (at < end && text[at] == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private void expect(char wanted) {
    if (!next(wanted)) {
      throw malformed("`" + wanted + "` expected");
    }
  }

  private void skipBlanks() {
    while (at < end
        && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
      at++;
    }
  }

  private ApiException malformed(String what) {
    return ErrorCode.INVALID_JSON.because(
        "malformed JSON at byte " + Math.min(at, end) + ": " + what);
  }
}
