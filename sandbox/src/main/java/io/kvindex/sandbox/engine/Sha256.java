// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 and the two ways engines cut 64 bits out of it. Not thread-safe. */
final class Sha256 {
  private final MessageDigest digest;

  Sha256() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  byte[] of(byte[] message, int length) {
    digest.update(message, 0, length);
    return digest.digest();
  }

  static long first8(byte[] hash) {
    return ByteBuffer.wrap(hash).getLong();
  }

  static long last8(byte[] hash) {
    return ByteBuffer.wrap(hash).getLong(hash.length - 8);
  }
}
