// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the events topic has of one partition.
 *
 * @param first offset of the oldest record that is left; above 0 = older ones are gone
 * @param end offset the next record will have
 * @param oldest the broker's time on the oldest record, null = there is none
 */
public record LogPart(int partition, long first, long end, @Nullable Instant oldest) {}
