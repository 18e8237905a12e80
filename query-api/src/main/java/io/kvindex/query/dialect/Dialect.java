// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.dialect;

/**
 * The same API as three systems speak it; a request's own form tells which, so that their clients
 * work without a setting. Source: decisions on dialects; references 000-003.
 */
public enum Dialect {
  /** JSON with {@code model} or {@code modelname}: what Mooncake Conductor's documents describe. */
  CONDUCTOR,
  /** MessagePack: today's C++ Conductor. */
  BINARY,
  /** JSON with {@code model_name}: Dynamo's standalone indexer. */
  DYNAMO
}
