// SPDX-License-Identifier: Apache-2.0
/** Registrations of publishers as kept in the compacted registrations topic. */
@NullMarked
package io.kvindex.model.registration;

import org.jspecify.annotations.NullMarked;
