// SPDX-License-Identifier: Apache-2.0
/**
 * In which order a stream's records count: once each, none before its predecessor, none of a former
 * life.
 */
@NullMarked
package io.kvindex.streams.sequence;

import org.jspecify.annotations.NullMarked;
