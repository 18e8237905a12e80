// SPDX-License-Identifier: Apache-2.0
/**
 * What readers see of a partition: its tables, its position in every stream and how far to trust
 * it. Public to the HTTP module.
 */
@NullMarked
package io.kvindex.streams.view;

import org.jspecify.annotations.NullMarked;
