// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

import org.jspecify.annotations.Nullable;

/**
 * What an engine's stores taught of one of its attention groups. Removals name a group by number
 * only, so this has to outlive a bridge.
 *
 * @param group its number
 * @param kind kind of its layers as sent, null = stores of it state none
 * @param blockSize tokens a block, 0 = not stated
 * @param slidingWindow its window in tokens, null = none
 */
public record GroupSpec(
    int group, @Nullable String kind, int blockSize, @Nullable Integer slidingWindow) {}
