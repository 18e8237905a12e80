// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.hash.CacheSalt;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.registration.TableRows;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** Which contexts a query's names mean. */
public final class Contexts {
  private static final List<Names> PLAIN = List.of(new Names("", "", ""));
  private static final long[] PLAIN_KEYS = {ContextHash.NONE};

  private Contexts() {}

  /** One context by its names, empty = none of that kind. */
  public record Names(String lora, String namespace, String salt) {}

  /**
   * {@code cache_salt} X is the namespace X, and the request salt X of sources that have no
   * namespace.
   *
   * @param loras names of the same adapter, empty = base model
   * @param salt {@code cache_salt}, empty = none
   */
  public static List<Names> of(Collection<String> loras, String salt) {
    String request = plain(salt);
    List<Names> names = new ArrayList<>(2 * loras.size());
    for (String lora : loras) {
      if (salt.isEmpty()) {
        names.add(new Names(lora, "", ""));
      } else {
        names.add(new Names(lora, salt, ""));
        names.add(new Names(lora, "", request));
      }
    }
    return names;
  }

  /** As {@link #of(Collection, String)} for one name; allocates nothing for the base model. */
  public static List<Names> of(String lora, String salt) {
    return lora.isEmpty() && salt.isEmpty() ? PLAIN : of(List.of(lora), salt);
  }

  /**
   * The one context in which {@code cache_salt} is the request salt and nothing else, as for Dynamo
   * and the C++ Conductor.
   *
   * @param lora adapter, empty = base model
   * @param salt {@code cache_salt}, empty = none
   */
  public static List<Names> ofRequest(String lora, String salt) {
    return lora.isEmpty() && salt.isEmpty() ? PLAIN : List.of(new Names(lora, "", plain(salt)));
  }

  private static String plain(String salt) {
    return Objects.requireNonNull(CacheSalt.plain(salt));
  }

  /**
   * The same contexts for hashes a client made itself. Where these cover the salt, a salt stated
   * beside them says nothing more, but a namespace does: of a name that is one, nothing else is
   * meant, or blocks without namespace would pass for some of it.
   *
   * @return some or all of {@code contexts}
   */
  static List<Names> besideHashes(
      HashProfile profile, List<Names> contexts, TableView view, TableRows rows) {
    if (!profile.algorithm().coversSalt()) {
      return contexts;
    }
    List<Names> spaced =
        contexts.stream().filter(names -> isNamespace(names.namespace(), view, rows)).toList();
    return spaced.isEmpty() ? contexts : spaced;
  }

  private static boolean isNamespace(String name, TableView view, TableRows rows) {
    return !name.isEmpty()
        && (rows.hasNamespace(name)
            || view.contexts().stream().anyMatch(known -> name.equals(known.namespace())));
  }

  /** What to xor into the prefix hashes for each of the contexts. */
  static long[] keys(HashProfile profile, List<Names> contexts) {
    if (contexts == PLAIN) {
      return PLAIN_KEYS;
    }
    long[] keys = new long[contexts.size()];
    for (int i = 0; i < keys.length; i++) {
      Names names = contexts.get(i);
      keys[i] = profile.context(names.lora(), names.namespace(), names.salt());
    }
    return keys;
  }
}
