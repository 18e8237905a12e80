// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** Whose events the engine sends. Field lists: {@link EventEncoder}. */
public enum EngineDialect {
  /** Unsigned 64-bit hashes, host tier {@code CPU}; a clear leaves the host tier alone. */
  VLLM("CPU"),
  /** Signed 64-bit hashes, host tier {@code CPU_PINNED}; a clear empties the host tier too. */
  SGLANG("CPU_PINNED");

  private final String hostMedium;

  EngineDialect(String hostMedium) {
    this.hostMedium = hostMedium;
  }

  /** The medium as spelled in events of this engine. */
  public String spell(Medium medium) {
    return medium == Medium.GPU ? "GPU" : hostMedium;
  }
}
