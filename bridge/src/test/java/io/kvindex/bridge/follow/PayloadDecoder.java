// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.normalise.Learned;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.model.registration.Registration;

/** From the bytes of one publisher's batches to normal form. */
final class PayloadDecoder {

  private final EngineDecoder decoder;
  private final int blockSize;
  private final Normaliser normaliser;

  PayloadDecoder(Registration registration, Learned learned) {
    decoder = EngineDecoder.forSource(registration.type());
    blockSize = registration.table().blockSize();
    normaliser = Normaliser.of(registration, learned);
  }

  NormalisedBatch decode(byte[] payload) {
    return normaliser.normalise((EngineBatch) decoder.decode(payload, blockSize));
  }
}
