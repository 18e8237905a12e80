// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 from one reused buffer into another, without garbage. Not thread-safe. */
final class Sha256 {

  /** Bytes of a digest. */
  static final int LENGTH = 32;

  private final MessageDigest digest;

  Sha256() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  /** Writes the digest of what is in {@code message} to {@code out}. */
  void of(ByteSink message, byte[] out) {
    digest.update(message.bytes(), 0, message.length());
    try {
      digest.digest(out, 0, LENGTH);
    } catch (DigestException e) {
      throw new AssertionError("a digest fits into " + out.length + " bytes", e);
    }
  }
}
