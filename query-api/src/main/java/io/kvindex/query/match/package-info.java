/**
 * From a walk over the index to numbers per instance: how long its prefix is, and how much of it
 * each medium and each rank holds.
 */
@NullMarked
package io.kvindex.query.match;

import org.jspecify.annotations.NullMarked;
