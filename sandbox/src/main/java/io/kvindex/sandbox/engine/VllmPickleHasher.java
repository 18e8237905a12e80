// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * vLLM v1 block hashes, algorithm {@code sha256}: as {@link VllmHasher} over pickle, protocol 5, of
 * {@code (parent digest, (tokens), (extra keys) or None)}. Small blocks and short names only: one
 * frame.
 */
final class VllmPickleHasher implements BlockHasher {
  private static final int MEMOIZE = 0x94;
  private static final int MOST = 64 * 1024;

  private final Sha256 sha256 = new Sha256();
  private final BlockHash root;

  VllmPickleHasher(String seed) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    string(body, seed);
    root = hash(body);
  }

  @Override
  public BlockHash root(CacheContext context) {
    return root;
  }

  @Override
  public BlockHash next(BlockHash parent, int[] tokens, CacheContext context, boolean first) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.write('C');
    body.write(parent.digest().length);
    body.writeBytes(parent.digest());
    body.write(MEMOIZE);
    if (tokens.length > 3) {
      body.write('(');
    }
    for (int token : tokens) {
      integer(body, Integer.toUnsignedLong(token));
    }
    endTuple(body, tokens.length);
    List<String> keys = VllmHasher.extraKeys(context, first);
    if (keys.isEmpty()) {
      body.write('N');
    } else {
      keys.forEach(key -> string(body, key));
      endTuple(body, keys.size());
    }
    endTuple(body, 3);
    return hash(body);
  }

  private static void string(ByteArrayOutputStream out, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    if (utf8.length > 0xff) {
      throw new IllegalArgumentException("a name of " + utf8.length + " bytes");
    }
    out.write(0x8c);
    out.write(utf8.length);
    out.writeBytes(utf8);
    out.write(MEMOIZE);
  }

  private static void integer(ByteArrayOutputStream out, long token) {
    ByteBuffer le = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, token);
    if (token <= 0xff) {
      out.write('K');
      out.write(le.array(), 0, 1);
    } else if (token <= 0xffff) {
      out.write('M');
      out.write(le.array(), 0, 2);
    } else if (token <= Integer.MAX_VALUE) {
      out.write('J');
      out.write(le.array(), 0, 4);
    } else {
      out.write(0x8a);
      out.write(5);
      out.write(le.array(), 0, 5);
    }
  }

  private static void endTuple(ByteArrayOutputStream out, int length) {
    out.write(length > 3 ? 't' : 0x84 + length);
    out.write(MEMOIZE);
  }

  private BlockHash hash(ByteArrayOutputStream body) {
    body.write('.');
    if (body.size() > MOST) {
      throw new IllegalArgumentException("more than one frame: " + body.size() + " bytes");
    }
    ByteBuffer pickle = ByteBuffer.allocate(11 + body.size()).order(ByteOrder.LITTLE_ENDIAN);
    pickle.put((byte) 0x80).put((byte) 5).put((byte) 0x95).putLong(body.size());
    pickle.put(body.toByteArray());
    byte[] digest = sha256.of(pickle.array(), pickle.position());
    return new BlockHash(Sha256.last8(digest), digest);
  }
}
