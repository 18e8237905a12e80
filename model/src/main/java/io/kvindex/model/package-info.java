// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.model;

import org.jspecify.annotations.NullMarked;
