// SPDX-License-Identifier: Apache-2.0
/** The one sub-topology: events in, rows out. */
@NullMarked
package io.kvindex.streams.topology;

import org.jspecify.annotations.NullMarked;
