// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps a whole compacted topic in memory, from its beginning, for as long as the process lives.
 */
@NullMarked
package io.kvindex.model.topic.follow;

import org.jspecify.annotations.NullMarked;
