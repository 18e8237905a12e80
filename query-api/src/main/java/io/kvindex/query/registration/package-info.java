// SPDX-License-Identifier: Apache-2.0
/**
 * Registrations over HTTP: checked here, kept in the registrations topic, seen by every replica
 * through its own follower of that topic.
 */
@NullMarked
package io.kvindex.query.registration;

import org.jspecify.annotations.NullMarked;
