/**
 * Reads what a table holds back out of its rows, beside the thread that writes them: in steps, each
 * of which sees one moment, so that nothing is pinned while a reader is slow.
 */
@NullMarked
package io.kvindex.streams.dump;

import org.jspecify.annotations.NullMarked;
