/**
 * {@code /dump} and peers: what the index holds, in the form of Dynamo's indexer, and what another
 * indexer's dump says, taken over through the log.
 */
@NullMarked
package io.kvindex.query.peer;

import org.jspecify.annotations.NullMarked;
