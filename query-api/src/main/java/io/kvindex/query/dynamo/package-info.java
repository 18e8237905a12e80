/** The dialect of Dynamo's standalone indexer: from a parsed query to its JSON answer. */
@NullMarked
package io.kvindex.query.dynamo;

import org.jspecify.annotations.NullMarked;
