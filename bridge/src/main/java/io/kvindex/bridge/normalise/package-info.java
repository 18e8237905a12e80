/**
 * From engine events and a registration to the events of the log: tokens become hashes, what the
 * event leaves out is filled in, and what can not be indexed is left out with a reason.
 */
@NullMarked
package io.kvindex.bridge.normalise;

import org.jspecify.annotations.NullMarked;
