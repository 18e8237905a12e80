// SPDX-License-Identifier: Apache-2.0
/** The Kafka topics all processes share: names, policies, partitioning and the start-up check. */
@NullMarked
package io.kvindex.model.topic;

import org.jspecify.annotations.NullMarked;
