/**
 * A simulated inference engine: a prefix cache that evicts as vLLM's does and speaks vLLM's or
 * SGLang's KV-event wire format over real ZMQ. Its cache is the oracle the index is compared with.
 */
@NullMarked
package io.kvindex.sandbox.engine;

import org.jspecify.annotations.NullMarked;
