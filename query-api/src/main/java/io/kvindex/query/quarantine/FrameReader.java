// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.quarantine;

import io.kvindex.model.registration.Registration;
import org.jspecify.annotations.Nullable;

/** Tries the decoders of this version on a batch that was refused before. Thread-safe. */
@FunctionalInterface
public interface FrameReader {

  /** Knows no decoder. */
  FrameReader NONE = (registration, payload) -> "this process has no decoders";

  /**
   * Why the payload can not be decoded.
   *
   * @return null if it can
   */
  @Nullable String problem(Registration registration, byte[] payload);
}
