/**
 * The load generator: builds a state through the real road (vLLM batches over ZMQ), then measures
 * queries or ingest of a running server from outside. Run by {@code benchmarks/run.sh}.
 */
@NullMarked
package io.kvindex.benchmarks.load;

import org.jspecify.annotations.NullMarked;
