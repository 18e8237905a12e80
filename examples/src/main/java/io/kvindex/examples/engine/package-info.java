// SPDX-License-Identifier: Apache-2.0
/** Simulated vLLM servers: OpenAI's API in front, KV events behind, no inference between. */
@NullMarked
package io.kvindex.examples.engine;

import org.jspecify.annotations.NullMarked;
