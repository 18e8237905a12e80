// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import org.jspecify.annotations.Nullable;

/** A tier's name in a dump, and the medium it stands for where nothing else is said. */
enum StorageTier {
  DEVICE("device", Tier.DEVICE, Media.GPU),
  HOST_PINNED("host_pinned", Tier.HOST, Media.CPU),
  DISK("disk", Tier.DISK, Media.DISK),
  EXTERNAL("external", Tier.EXTERNAL, "EXTERNAL");

  private final String wireName;
  private final Tier tier;
  private final String medium;

  StorageTier(String wireName, Tier tier, String medium) {
    this.wireName = wireName;
    this.tier = tier;
    this.medium = medium;
  }

  String wireName() {
    return wireName;
  }

  /** The tier of a medium as sent. */
  static StorageTier of(@Nullable String medium) {
    return values()[Media.standard().tier(medium).ordinal()];
  }

  /** The tier of that name, null = it is not known. */
  static @Nullable StorageTier byWireName(String name) {
    for (StorageTier tier : values()) {
      if (tier.wireName.equals(name)) {
        return tier;
      }
    }
    return null;
  }

  /** Whether the tier says all that answers need of a medium. */
  boolean standsFor(@Nullable String sent) {
    return Media.standard().answerKey(sent).equals(medium);
  }

  /**
   * The medium of a block.
   *
   * @param stated what the dump says beside the tier, null = nothing
   */
  String medium(@Nullable String stated) {
    return stated != null && Media.standard().tier(stated) == tier ? stated : medium;
  }
}
