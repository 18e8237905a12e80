// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

/**
 * {@code sha256}: pickle protocol 5 as CPython's C pickler writes {@code (bytes, tuple, tuple or
 * None)}, byte for byte, frames included. Source: CPython, {@code Modules/_pickle.c}, 3.8 to 3.13.
 */
final class PickleEncoding implements VllmEncoding {

  private static final int PROTO = 0x80;
  private static final int FRAME = 0x95;
  private static final int MEMOIZE = 0x94;
  private static final int SHORT_BINBYTES = 'C';
  private static final int SHORT_BINUNICODE = 0x8c;
  private static final int BINUNICODE = 'X';
  private static final int MARK = '(';
  private static final int EMPTY_TUPLE = ')';
  private static final int TUPLE = 't';

  /** Of one element; those of two and three follow. */
  private static final int TUPLE1 = 0x85;

  private static final int BININT = 'J';
  private static final int BININT1 = 'K';
  private static final int BININT2 = 'M';
  private static final int LONG1 = 0x8a;
  private static final int NONE = 'N';
  private static final int STOP = '.';

  private static final int FRAME_HEADER = 9;
  private static final int FRAME_TARGET = 64 * 1024;
  private static final int FRAME_LEAST = 4;
  private static final int CLOSED = -1;

  private final ByteSink out = new ByteSink();
  private int frame = CLOSED;

  @Override
  public void seed(byte[] utf8) {
    begin();
    string(utf8);
    end();
  }

  @Override
  public void block(byte[] parent, int[] tokens, int offset, int length, byte[][][] keys) {
    begin();
    object();
    object();
    out.put(SHORT_BINBYTES);
    out.put(parent.length);
    out.put(parent, parent.length);
    out.put(MEMOIZE);
    tokens(tokens, offset, length);
    object();
    if (keys.length == 0) {
      out.put(NONE);
    } else {
      for (byte[][] key : keys) {
        key(key);
      }
      endTuple(keys.length);
    }
    endTuple(3);
    end();
  }

  @Override
  public ByteSink encoded() {
    return out;
  }

  /** A tuple repeats no text as the same object, so nothing is taken from the memo. */
  private void key(byte[][] parts) {
    if (parts.length > 1) {
      object();
    }
    for (byte[] part : parts) {
      string(part);
    }
    if (parts.length > 1) {
      endTuple(parts.length);
    }
  }

  private void tokens(int[] tokens, int offset, int length) {
    object();
    if (length == 0) {
      out.put(EMPTY_TUPLE);
      return;
    }
    if (length > 3) {
      out.put(MARK);
    }
    for (int i = offset; i < offset + length; i++) {
      object();
      integer(tokens[i]);
    }
    endTuple(length);
  }

  private void endTuple(int length) {
    out.put(length > 3 ? TUPLE : TUPLE1 + length - 1);
    out.put(MEMOIZE);
  }

  private void integer(int token) {
    if (token < 0) {
      out.put(LONG1);
      out.put(5);
      out.putIntLe(token);
      out.put(0);
    } else if (token <= 0xff) {
      out.put(BININT1);
      out.put(token);
    } else if (token <= 0xffff) {
      out.put(BININT2);
      out.put(token);
      out.put(token >>> 8);
    } else {
      out.put(BININT);
      out.putIntLe(token);
    }
  }

  private void string(byte[] utf8) {
    object();
    boolean unframed = utf8.length >= FRAME_TARGET;
    if (unframed) {
      closeFrame();
    }
    if (utf8.length <= 0xff) {
      out.put(SHORT_BINUNICODE);
      out.put(utf8.length);
    } else {
      out.put(BINUNICODE);
      out.putIntLe(utf8.length);
    }
    out.put(utf8, utf8.length);
    if (unframed) {
      openFrame();
    }
    out.put(MEMOIZE);
  }

  private void begin() {
    out.clear();
    out.put(PROTO);
    out.put(5);
    frame = CLOSED;
  }

  private void end() {
    out.put(STOP);
    closeFrame();
  }

  /** Before each object: a frame that is full ends here. */
  private void object() {
    if (frame != CLOSED && out.length() - frame - FRAME_HEADER >= FRAME_TARGET) {
      closeFrame();
    }
    if (frame == CLOSED) {
      openFrame();
    }
  }

  private void openFrame() {
    frame = out.length();
    out.put(FRAME);
    out.putIntLe(0);
    out.putIntLe(0);
  }

  private void closeFrame() {
    int length = out.length() - frame - FRAME_HEADER;
    if (length >= FRAME_LEAST) {
      out.setLongLe(frame + 1, length);
    } else {
      out.remove(frame, FRAME_HEADER);
    }
    frame = CLOSED;
  }
}
