// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.TableId;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.PartitionView;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.LongPredicate;

/** Partitions that tell what a test says. */
final class TellingView {

  private TellingView() {}

  /** What a table holds. */
  interface Telling {
    void tell(TableId table, LongPredicate wanted, DumpVisitor visitor) throws Exception;
  }

  static PartitionView of(List<ContextNames> contexts, Telling telling) {
    return (PartitionView)
        Proxy.newProxyInstance(
            TellingView.class.getClassLoader(),
            new Class<?>[] {PartitionView.class},
            (proxy, method, args) -> {
              switch (method.getName()) {
                case "complete":
                  return true;
                case "contexts":
                  return contexts;
                case "dump":
                  telling.tell((TableId) args[0], (LongPredicate) args[1], (DumpVisitor) args[2]);
                  return null;
                default:
                  throw new InvocationTargetException(
                      new UnsupportedOperationException(method.getName()));
              }
            });
  }
}
