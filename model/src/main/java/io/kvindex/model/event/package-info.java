// SPDX-License-Identifier: Apache-2.0
/** Normalised KV-cache events and the binary record that carries them through Kafka. */
@NullMarked
package io.kvindex.model.event;

import org.jspecify.annotations.NullMarked;
