// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a medium, as sent by an engine or a storage, counts as: its tier, and the key it is counted
 * under in an answer. Spellings are compared without regard to case. Immutable.
 *
 * <p>Source: spellings of vLLM, SGLang, TensorRT-LLM, Mooncake and LMCache events; see the media
 * table in the compatibility notes.
 */
public final class Media {

  /** Distance from the engine's compute. */
  public enum Tier {
    /** Memory of the accelerator. */
    DEVICE,
    /** Memory of the host. */
    HOST,
    /** Disk, file system or object store. */
    DISK,
    /** Somewhere else, or unknown: never taken for the device. */
    EXTERNAL
  }

  /** Answer key of the usual device, also of events that name no medium. */
  public static final String GPU = "GPU";

  /** Answer key of the host tier. */
  public static final String CPU = "CPU";

  /** Answer key of the disk tier. */
  public static final String DISK = "DISK";

  private static final Set<String> GPU_SPELLINGS = Set.of("GPU", "HBM", "CUDA", "DEVICE");
  private static final Set<String> OTHER_DEVICES = Set.of("NPU", "TPU");
  private static final Set<String> HOST_SPELLINGS =
      Set.of("CPU", "CPU_PINNED", "CPU_TIER1", "DRAM", "LMCACHE-L1");
  private static final Set<String> DISK_SPELLINGS =
      Set.of("DISK", "STORAGE", "FS", "NVME", "SSD", "3FS", "DFS", "NFS", "CPU_TIER2", "OBJ");

  /** LMCache's second tier, behind it the backend: disk, a file system, an object store. */
  private static final String LMCACHE_L2 = "LMCACHE-L2";

  private static final Media STANDARD = new Media();

  private Media() {}

  /** The built-in table. */
  public static Media standard() {
    return STANDARD;
  }

  /** Tier of a medium; null or blank, as old engines send it, is the device. */
  public Tier tier(@Nullable String medium) {
    String name = normal(medium);
    if (GPU_SPELLINGS.contains(name) || OTHER_DEVICES.contains(name)) {
      return Tier.DEVICE;
    }
    if (HOST_SPELLINGS.contains(name)) {
      return Tier.HOST;
    }
    return DISK_SPELLINGS.contains(name) || name.startsWith(LMCACHE_L2) ? Tier.DISK : Tier.EXTERNAL;
  }

  /**
   * Key a medium is counted under: {@code CPU} for the whole host tier, {@code DISK} for the whole
   * disk tier, {@code GPU} for all spellings of it, else the medium's own name in upper case.
   */
  public String answerKey(@Nullable String medium) {
    String name = normal(medium);
    switch (tier(medium)) {
      case HOST:
        return CPU;
      case DISK:
        return DISK;
      default:
        return GPU_SPELLINGS.contains(name) ? GPU : name;
    }
  }

  /**
   * Whether two media hold the same copies of blocks: named alike but for upper and lower case
   * ({@code CPU} and {@code cpu}, as an engine and its connector write it), or spellings of one
   * device, whose events need not agree on one ({@code null}, {@code gpu}, {@code HBM}, {@code
   * cuda:0}). Beyond the device a medium is what it is called: two disks of one tier are two.
   */
  public boolean isSame(@Nullable String one, @Nullable String other) {
    return Objects.equals(one, other)
        || normal(one).equals(normal(other))
        || tier(one) == Tier.DEVICE && answerKey(one).equals(answerKey(other));
  }

  /** Upper case, and a device without its ordinal: {@code cuda:1} is {@code CUDA}. */
  private static String normal(@Nullable String medium) {
    if (medium == null || medium.isBlank()) {
      return GPU;
    }
    String name = medium.strip().toUpperCase(Locale.ROOT);
    int colon = name.indexOf(':');
    if (colon < 0) {
      return name;
    }
    String device = name.substring(0, colon);
    return GPU_SPELLINGS.contains(device) || OTHER_DEVICES.contains(device) ? device : name;
  }
}
