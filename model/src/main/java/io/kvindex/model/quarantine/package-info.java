/** Batches that could not be decoded, as they are kept. */
@NullMarked
package io.kvindex.model.quarantine;

import org.jspecify.annotations.NullMarked;
