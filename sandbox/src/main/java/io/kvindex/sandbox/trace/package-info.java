/** Real request traces turned into prompts of deterministic tokens. */
@NullMarked
package io.kvindex.sandbox.trace;

import org.jspecify.annotations.NullMarked;
