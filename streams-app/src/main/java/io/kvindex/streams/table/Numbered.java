// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.event.MalformedRecordException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What rows call by a number: the numbers count from 1, in the order things were first heard of.
 * For the table's writer.
 */
public final class Numbered<K, V> {

  private final String what;
  private final List<V> values = new ArrayList<>();
  private final Map<K, Integer> refs = new HashMap<>();

  Numbered(String what) {
    this.what = what;
  }

  /** Takes in the next one. */
  void add(int ref, K key, V value) {
    if (ref != next()) {
      throw new MalformedRecordException(what + " " + ref + " comes before " + next());
    }
    values.add(value);
    refs.put(key, ref);
  }

  /** Its number, null = not known yet. */
  public @Nullable Integer ref(K key) {
    return refs.get(key);
  }

  /** The value of a key, null = not known yet. */
  public @Nullable V find(K key) {
    Integer ref = refs.get(key);
    return ref == null ? null : values.get(ref - 1);
  }

  /** The value of a number found in a row. */
  public V get(int ref) {
    if (ref < 1 || ref >= next()) {
      throw new IllegalStateException("BUG: a row names an unknown " + what + " " + ref);
    }
    return values.get(ref - 1);
  }

  /** All, by number. */
  public List<V> all() {
    return Collections.unmodifiableList(values);
  }

  /** The number that is given next. */
  public int next() {
    return values.size() + 1;
  }
}
