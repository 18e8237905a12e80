/** Batches nobody could decode: listing them, and rebuilding their publishers. */
@NullMarked
package io.kvindex.query.quarantine;

import org.jspecify.annotations.NullMarked;
