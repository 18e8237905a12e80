// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class SwapOptionsTest {

  @Test
  void shouldNotServe_whenRetentionTookWhatWasBeingRead() {
    SwapOptions whole = CommandLine.populateCommand(new SwapOptions(), "--swap");
    assertThat(whole.mayServe(0)).isTrue();
    assertThat(whole.mayServe(1)).isFalse();
    SwapOptions cut = CommandLine.populateCommand(new SwapOptions(), "--swap", "--although-cut");
    assertThat(cut.mayServe(1)).isTrue();
  }
}
