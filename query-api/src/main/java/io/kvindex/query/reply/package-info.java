// SPDX-License-Identifier: Apache-2.0
/** Answers as bytes: a reusable JSON buffer and the one body every refusal has. */
@NullMarked
package io.kvindex.query.reply;

import org.jspecify.annotations.NullMarked;
