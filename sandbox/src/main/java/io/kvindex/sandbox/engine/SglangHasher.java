// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * SGLang's page hashes: SHA-256 over the previous page's digest and the tokens as u32
 * little-endian; the wire hash is the first 8 bytes. A salted context starts from a digest of the
 * salt instead of from nothing.
 */
final class SglangHasher implements BlockHasher {
  private static final byte[] SALT_DOMAIN =
      "sglang-cache-salt-v1\0".getBytes(StandardCharsets.US_ASCII);

  private final Sha256 sha256 = new Sha256();

  @Override
  public BlockHash root(CacheContext context) {
    if (context.salt() == null) {
      return new BlockHash(0, new byte[0]);
    }
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    message.writeBytes(SALT_DOMAIN);
    message.writeBytes(context.salt().getBytes(StandardCharsets.UTF_8));
    byte[] digest = sha256.of(message.toByteArray(), message.size());
    return new BlockHash(Sha256.first8(digest), digest);
  }

  @Override
  public BlockHash next(BlockHash parent, int[] tokens, CacheContext context, boolean first) {
    ByteBuffer message =
        ByteBuffer.allocate(parent.digest().length + 4 * tokens.length)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put(parent.digest());
    for (int token : tokens) {
      message.putInt(token);
    }
    byte[] digest = sha256.of(message.array(), message.position());
    return new BlockHash(Sha256.first8(digest), digest);
  }
}
