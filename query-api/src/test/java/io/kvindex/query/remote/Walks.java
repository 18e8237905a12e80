// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Walks whose result is of no interest, but whether there is one, and who gave it. */
final class Walks {

  private Walks() {}

  /** Walks an empty prompt in one context; the view must be there. */
  static int empty(@Nullable TableView view) {
    return Objects.requireNonNull(view)
        .walk(
            new PrefixReader(),
            (out, from, max) -> 0,
            new long[] {0},
            new RunVisitor() {
              @Override
              public boolean change(int position, long[] ownerBits) {
                return true;
              }

              @Override
              public void end(int position) {}
            });
  }
}
