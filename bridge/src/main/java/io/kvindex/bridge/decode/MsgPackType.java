// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/** Families of msgpack values, by their first byte. Source: the msgpack specification. */
enum MsgPackType {
  INT,
  NIL,
  BOOL,
  FLOAT,
  STR,
  BIN,
  ARRAY,
  MAP,
  EXT,
  /** 0xc1, never used. */
  INVALID;

  private static final MsgPackType[] BY_HEAD = new MsgPackType[256];

  static {
    for (int head = 0; head < BY_HEAD.length; head++) {
      BY_HEAD[head] = classify(head);
    }
  }

  static MsgPackType of(int head) {
    return BY_HEAD[head];
  }

  private static MsgPackType classify(int head) {
    if (head <= 0x7f || head >= 0xe0 || (head >= 0xcc && head <= 0xd3)) {
      return INT;
    } else if (head <= 0x8f || head == 0xde || head == 0xdf) {
      return MAP;
    } else if (head <= 0x9f || head == 0xdc || head == 0xdd) {
      return ARRAY;
    } else if (head <= 0xbf || (head >= 0xd9 && head <= 0xdb)) {
      return STR;
    } else if (head <= 0xc1) {
      return head == 0xc0 ? NIL : INVALID;
    } else if (head <= 0xc3) {
      return BOOL;
    } else if (head <= 0xc6) {
      return BIN;
    }
    return head == 0xca || head == 0xcb ? FLOAT : EXT;
  }
}
