// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.kvindex.query.remote;

import org.jspecify.annotations.NullMarked;
