// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import io.kvindex.query.parse.HashText;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Typed reading of a dump's JSON, token by token: memory does not depend on its length. */
final class DumpTokens implements AutoCloseable {

  private static final int MAX_TEXT = 16_384;
  private static final int MAX_DEPTH = 64;

  /** Several times what we write; beyond it nothing is kept of an object. */
  private static final int MAX_MEMBERS = 32;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxStringLength(MAX_TEXT)
                  .maxNameLength(MAX_TEXT)
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(40)
                  .build())
          // Keys are names of models and tenants: no table of them is kept.
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .build();

  private final JsonParser parser;

  DumpTokens(InputStream in) throws IOException {
    parser = JSON.createParser(in);
  }

  /** Reads one member's value, which it must read to its end. */
  interface Members {
    void member(String name) throws IOException;
  }

  /** Reads one element, which it must read to its end. */
  interface Elements {
    void element() throws IOException;
  }

  /** Goes to the first token. */
  void start() throws IOException {
    parser.nextToken();
  }

  /** Nothing may follow. */
  void end() throws IOException {
    if (parser.nextToken() != null) {
      throw malformed("nothing more");
    }
  }

  /** The object the parser stands at. */
  void object(Members members) throws IOException {
    require(JsonToken.START_OBJECT, "an object");
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      members.member(name);
    }
    require(JsonToken.END_OBJECT, "the end of an object");
  }

  /** The array the parser stands at. */
  void array(Elements elements) throws IOException {
    require(JsonToken.START_ARRAY, "an array");
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() == null) {
        throw malformed("the end of an array");
      }
      elements.element();
    }
  }

  /** Leaves a value out. */
  void skip() throws IOException {
    parser.skipChildren();
  }

  boolean isNull() {
    return parser.currentToken() == JsonToken.VALUE_NULL;
  }

  boolean isText() {
    return parser.currentToken() == JsonToken.VALUE_STRING;
  }

  /** A number of 64 bits, as raw bits; from -2^63 to 2^64-1. */
  long hash() throws IOException {
    require(JsonToken.VALUE_NUMBER_INT, "a 64-bit number");
    Long bits = HashText.parse(parser.getText());
    if (bits == null) {
      throw malformed("a 64-bit number");
    }
    return bits;
  }

  /** A number from 0 to 2^31-1. */
  int number() throws IOException {
    require(JsonToken.VALUE_NUMBER_INT, "a number");
    long value = hash();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw malformed("a number from 0 to 2147483647");
    }
    return (int) value;
  }

  String text() throws IOException {
    require(JsonToken.VALUE_STRING, "a string");
    return parser.getText();
  }

  /** The plain values of an object as texts, the first 32 of them; everything else left out. */
  Map<String, String> texts() throws IOException {
    Map<String, String> texts = new HashMap<>();
    object(
        name -> {
          if (parser.currentToken().isScalarValue() && texts.size() < MAX_MEMBERS) {
            texts.put(name, parser.getText());
          } else {
            skip();
          }
        });
    return texts;
  }

  private void require(JsonToken token, String what) throws IOException {
    if (parser.currentToken() != token) {
      throw malformed(what);
    }
  }

  IOException malformed(String expected) {
    @Nullable JsonToken token = parser.currentToken();
    return new IOException(
        "expected "
            + expected
            + ", found "
            + (token == null ? "the end" : token)
            + " at byte "
            + parser.currentLocation().getByteOffset());
  }

  @Override
  public void close() throws IOException {
    parser.close();
  }
}
