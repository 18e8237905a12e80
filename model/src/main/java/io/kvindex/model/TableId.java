// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import io.kvindex.model.hash.HashProfile;
import java.util.Objects;

/**
 * One index: prompts of one tenant for one model, cut into blocks of one size and hashed one way.
 * LoRA adapter, namespace and salt are not part of it, they are mixed into the lookup key.
 *
 * @param tenantId tenant, not empty
 * @param model model name, not empty
 * @param blockSize tokens a block, 1..{@value #MAX_BLOCK_SIZE}
 * @param hashProfile how prefixes are hashed
 */
public record TableId(String tenantId, String model, int blockSize, HashProfile hashProfile) {

  /** Largest block size accepted, in tokens. */
  public static final int MAX_BLOCK_SIZE = 1_048_576;

  public TableId {
    Objects.requireNonNull(tenantId);
    Objects.requireNonNull(model);
    Objects.requireNonNull(hashProfile);
    if (blockSize < 1 || blockSize > MAX_BLOCK_SIZE) {
      throw new IllegalArgumentException(
          "block_size must be 1.." + MAX_BLOCK_SIZE + ", got " + blockSize);
    }
  }
}
