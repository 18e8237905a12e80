// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.model.SourceType;
import io.kvindex.model.progress.GroupSpec;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which attention groups of a hybrid model are indexed: those that need every block of a prefix.
 * Groups that look back only so far (sliding window, chunked, mamba) would make a prefix look held
 * that is not.
 */
final class AttentionGroups {

  private static final Set<String> WHOLE_PREFIX =
      Set.of("full_attention", "mla_attention", "sink_full_attention");

  private AttentionGroups() {}

  /**
   * Whether a group is indexed: by its stated kind, else by the kind stores have told of. Where no
   * kind is known only the first group is: it is the only one in versions without kinds.
   *
   * @param known what is known of the group, null = nothing
   */
  static boolean isIndexed(CacheScope scope, @Nullable GroupSpec known) {
    String kind = scope.specKind() != null || known == null ? scope.specKind() : known.kind();
    return kind == null ? groupOf(scope) == 0 : isWholePrefix(kind);
  }

  /** Whether groups of that kind need every block of a prefix; null = of no kind that is known. */
  static boolean isWholePrefix(@Nullable String kind) {
    return kind != null && WHOLE_PREFIX.contains(kind);
  }

  /**
   * Whether nothing tells what a group is that an engine numbers by its layers: TensorRT-LLM's
   * first group may well be one of a sliding window.
   *
   * @param known what is known of the group, null = nothing
   */
  static boolean isUnknown(SourceType type, CacheScope scope, @Nullable GroupSpec known) {
    return type == SourceType.TENSORRT_LLM
        && scope.hasGroup()
        && scope.specKind() == null
        && (known == null || known.kind() == null);
  }

  /** The group's number, 0 if the engine has only one. */
  static int groupOf(CacheScope scope) {
    return Math.max(scope.group(), 0);
  }
}
