// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.decode.WireVectors.Vector;
import java.util.List;
import java.util.Random;

/** Damaged payloads made of all samples there are, whatever engine they are of. */
public final class Mutants {

  private static final List<byte[]> SAMPLES =
      WireVectors.all().stream()
          .map(Vector::payload)
          .filter(payload -> payload.length > 0)
          .toList();

  private Mutants() {}

  /** One of them. */
  public static byte[] payload(Random random) {
    byte[] sample = SAMPLES.get(random.nextInt(SAMPLES.size()));
    try {
      return Mutations.mutate(sample, random);
    } catch (RuntimeException e) {
      return Mutations.damage(sample, random); // no array of values that could be taken apart
    }
  }
}
