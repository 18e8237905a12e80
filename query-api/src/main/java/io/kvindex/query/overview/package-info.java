/**
 * What is registered and what is indexed, for people and for tools: {@code GET /services} and
 * {@code GET /global_view} of Mooncake Conductor.
 */
@NullMarked
package io.kvindex.query.overview;

import org.jspecify.annotations.NullMarked;
