// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoadShapeTest {

  @ParameterizedTest
  @ValueSource(ints = {4_096, 32_768})
  void shouldShareNineTenthsAndChangeOwnersSixteenTimes_whenPromptsAreLong(int tokens) {
    LoadShape shape = new LoadShape(tokens, 4_096, 32, 64, 8);

    for (int prompt = 0; prompt < shape.prompts(); prompt += 61) {
      for (int i = 0; i < shape.instances(); i++) {
        assertThat(shape.longest(prompt, i)).isBetween(tokens * 9 / 10, tokens);
        assertThat(shape.onDevice(prompt, i)).isBetween(0, shape.longest(prompt, i));
      }
      assertThat(ownerChanges(shape, prompt)).isGreaterThanOrEqualTo(16);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {512, 4_096})
  void shouldGoDownTheTiersAsACursorDoes_whenBlocksChangeMedium(int tokens) {
    LoadShape shape = new LoadShape(tokens, 256, 16, 64, 8);

    for (int prompt = 0; prompt < shape.prompts(); prompt++) {
      String[] owners = new String[shape.promptBlocks()];
      for (int block = 0; block < owners.length; block++) {
        owners[block] = owners(shape, prompt, block);
      }
      for (int i = 0; i < shape.instances(); i++) {
        int device = 0;
        while (device < owners.length && owners[device].charAt(i) == 'G') {
          device++;
        }
        int host = device;
        while (host < owners.length && owners[host].charAt(i) == 'C') {
          host++;
        }
        assertThat(shape.throughDevice(prompt, i)).isEqualTo(device * LoadShape.BLOCK_SIZE);
        assertThat(shape.throughHost(prompt, i)).isEqualTo(host * LoadShape.BLOCK_SIZE);
      }
    }
  }

  /** Counts the places where the set of (instance, medium) pairs differs from the block before. */
  private static int ownerChanges(LoadShape shape, int prompt) {
    int changes = 0;
    String before = "";
    for (int block = 0; block < shape.promptBlocks(); block++) {
      String owners = owners(shape, prompt, block);
      changes += block > 0 && !owners.equals(before) ? 1 : 0;
      before = owners;
    }
    return changes;
  }

  private static String owners(LoadShape shape, int prompt, int block) {
    StringBuilder owners = new StringBuilder();
    for (int i = 0; i < shape.instances(); i++) {
      int inTail = block - shape.stemBlocks();
      if (inTail >= 0) {
        boolean held = inTail < shape.tailBlocksHeld(prompt, i);
        owners.append(!held ? '.' : shape.tailOnDevice(prompt, i) ? 'G' : 'C');
      } else {
        owners.append(block < shape.deviceBlocksOfStem(shape.stemOf(prompt), i) ? 'G' : 'C');
      }
    }
    return owners.toString();
  }
}
