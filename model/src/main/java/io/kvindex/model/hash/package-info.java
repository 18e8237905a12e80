// SPDX-License-Identifier: Apache-2.0
/** Block hashing: local hashes of one block's tokens and rolling hashes of whole prefixes. */
@NullMarked
package io.kvindex.model.hash;

import org.jspecify.annotations.NullMarked;
