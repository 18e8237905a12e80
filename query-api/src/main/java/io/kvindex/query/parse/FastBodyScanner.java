// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.dialect.Dialect;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One pass over a well-behaved body. Answers false for anything it is not sure about (escapes,
 * non-ASCII, repeated members, nesting it does not know, values out of range): the slow reader then
 * starts again from the first byte. It must never accept what the slow reader refuses. Not
 * thread-safe.
 */
final class FastBodyScanner {
  private static final int MAX_NUMBER_DIGITS = 18;

  /** Longer names are left to Jackson, which refuses those beyond 50,000 characters. */
  private static final int MAX_NAME = 1_000;

  /** Members that mean nothing to Dynamo, or are checked against others, beside its own. */
  private static final int DYNAMO_UNSURE =
      Member.MODEL.bit() | Member.HASHES.bit() | Member.LORA_ID.bit() | Member.INSTANCE.bit();

  private static final int TENANTS = Member.TENANT.bit() | Member.ROUTING_GROUP.bit();

  private final HashArrayScanner hashArray = new HashArrayScanner();
  private final String[] lastTexts = new String[Member.values().length];
  private byte[] text = {};
  private int at;
  private int end;
  private boolean unusual;

  FastBodyScanner() {
    Arrays.fill(lastTexts, "");
  }

  /**
   * @param bytes readable for {@link TokenArrayScanner#PADDING} bytes beyond {@code to}
   * @return whether {@code into} holds the whole, valid query
   */
  boolean scan(byte[] bytes, int from, int to, QueryForm form, int maxItems, QueryBody into) {
    text = bytes;
    at = from;
    end = to;
    unusual = false;
    into.reset();
    int seen = 0;
    expect('{');
    do {
      Member member = name();
      if (unusual || (seen & member.bit()) != 0 && member != Member.UNKNOWN) {
        return false;
      }
      seen |= member.bit();
      value(member, form, maxItems, into);
    } while (!unusual && moreMembers());
    skipBlanks();
    return !unusual && at == end && complete(seen, form, into);
  }

  private static boolean complete(int seen, QueryForm form, QueryBody body) {
    boolean dynamo = (seen & Member.MODEL_NAME.bit()) != 0;
    int foreign = dynamo ? DYNAMO_UNSURE : Member.BLOCK_HASHES.bit() | Member.ROUTING_GROUP.bit();
    Member hashes = dynamo ? Member.BLOCK_HASHES : Member.HASHES;
    Member items = form == QueryForm.TOKENS ? Member.TOKENS : hashes;
    boolean twoTenants = (seen & TENANTS) == TENANTS;
    boolean salted = dynamo && form != QueryForm.TOKENS && !body.cacheSalt.isEmpty();
    body.dialect = dynamo ? Dialect.DYNAMO : Dialect.CONDUCTOR;
    return (seen & items.bit()) != 0
        && (seen & foreign) == 0
        && (dynamo || form != QueryForm.TIERED)
        && !salted
        && !twoTenants
        && !body.model.isEmpty()
        && (body.loraId == QueryBody.NO_LORA_ID || body.loraName.isEmpty());
  }

  private void value(Member member, QueryForm form, int maxItems, QueryBody into) {
    skipBlanks();
    switch (member) {
      case TOKENS -> items(form == QueryForm.TOKENS, true, maxItems, into);
      case HASHES, BLOCK_HASHES -> items(form != QueryForm.TOKENS, false, maxItems, into);
      case UNKNOWN -> skipScalar();
      case MODEL, MODEL_NAME -> into.model = string(member);
      default -> {
        if (!skipNull()) {
          optional(member, into);
        }
      }
    }
  }

  private void optional(Member member, QueryBody into) {
    switch (member) {
      case TENANT, ROUTING_GROUP -> {
        String tenant = string(member);
        into.tenant = tenant.isEmpty() ? QueryBody.DEFAULT_TENANT : tenant;
      }
      case LORA_NAME -> into.loraName = string(member);
      case CACHE_SALT -> into.cacheSalt = string(member);
      case INSTANCE -> {
        String instance = string(member);
        into.instanceId = instance.isEmpty() ? null : instance;
      }
      case LORA_ID -> {
        into.loraId = number();
        unusual |= into.loraId < QueryBody.NO_LORA_ID;
      }
      case BLOCK_SIZE -> {
        long size = number();
        unusual |= size < 1 || size > QueryBody.MAX_BLOCK_SIZE;
        into.blockSize = (int) size;
      }
      default -> unusual = true;
    }
  }

  private void items(boolean wanted, boolean tokens, int maxItems, QueryBody into) {
    expect('[');
    if (unusual || !wanted) {
      unusual = true;
      return;
    }
    if (text[at] == ']') {
      at++;
      return;
    }
    int after =
        tokens
            ? TokenArrayScanner.scan(text, at, end, maxItems, into)
            : hashArray.scan(text, at, end, maxItems, into);
    unusual = after == TokenArrayScanner.UNUSUAL;
    at = unusual ? at : after;
  }

  private boolean moreMembers() {
    skipBlanks();
    byte c = text[at++];
    if (c == ',') {
      return true;
    }
    unusual |= c != '}' || at > end;
    return false;
  }

  private Member name() {
    skipBlanks();
    int from = at + 1;
    int to = stringEnd();
    if (unusual) {
      return Member.UNKNOWN;
    }
    expect(':');
    unusual |= to - from > MAX_NAME;
    return Member.of(text, from, to);
  }

  private String string(Member member) {
    int from = at + 1;
    int to = stringEnd();
    if (unusual) {
      return "";
    }
    String last = lastTexts[member.ordinal()];
    if (equal(last, from, to)) {
      return last;
    }
    String fresh = new String(text, from, to - from, StandardCharsets.ISO_8859_1);
    lastTexts[member.ordinal()] = fresh;
    return fresh;
  }

  private boolean equal(String last, int from, int to) {
    if (last.length() != to - from) {
      return false;
    }
    for (int i = 0; i < last.length(); i++) {
      if (last.charAt(i) != text[from + i]) {
        return false;
      }
    }
    return true;
  }

  /** Position of the closing quote of a plain ASCII string that starts here; moves behind it. */
  private int stringEnd() {
    expect('"');
    while (at < end && !unusual) {
      byte c = text[at++];
      if (c == '"') {
        return at - 1;
      }
      unusual = c < ' ' || c == '\\';
    }
    unusual = true;
    return at;
  }

  /** A whole number without leading zeros, at most 18 digits. */
  private long number() {
    boolean negative = text[at] == '-';
    if (negative) {
      at++;
    }
    int from = at;
    long value = 0;
    while (at < end && text[at] >= '0' && text[at] <= '9' && at - from <= MAX_NUMBER_DIGITS) {
      value = value * 10 + (text[at++] - '0');
    }
    int digits = at - from;
    unusual |= digits == 0 || digits > MAX_NUMBER_DIGITS || (digits > 1 && text[from] == '0');
    unusual |= !endsValue();
    return negative ? -value : value;
  }

  private boolean endsValue() {
    byte c = text[at];
    return c == ',' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }

  private void skipScalar() {
    if (text[at] == '"') {
      stringEnd();
    } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
      number();
    } else if (!skipWord("true") && !skipWord("false")) {
      unusual |= !skipNull();
    }
  }

  private boolean skipNull() {
    return skipWord("null");
  }

  private boolean skipWord(String word) {
    if (end - at <= word.length()) {
      return false;
    }
    for (int i = 0; i < word.length(); i++) {
      if (text[at + i] != word.charAt(i)) {
        return false;
      }
    }
    at += word.length();
    unusual |= !endsValue();
    return true;
  }

  private void expect(char wanted) {
    skipBlanks();
    unusual |= at >= end || text[at] != wanted;
    at++;
  }

  private void skipBlanks() {
    while (at < end
        && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
      at++;
    }
  }
}
