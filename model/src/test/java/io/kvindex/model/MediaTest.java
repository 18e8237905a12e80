// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Media.Tier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MediaTest {

  @ParameterizedTest
  @CsvSource({
    ", DEVICE, GPU",
    "'', DEVICE, GPU",
    "GPU, DEVICE, GPU",
    "gpu, DEVICE, GPU",
    "HBM, DEVICE, GPU",
    "device, DEVICE, GPU",
    "lmcache-l1, HOST, CPU",
    "lmcache-l2-fs, DISK, DISK",
    "LMCACHE-L2-S3, DISK, DISK",
    "NETWORK, EXTERNAL, NETWORK",
    "cuda, DEVICE, GPU",
    "cuda:3, DEVICE, GPU",
    "NPU, DEVICE, NPU",
    "npu:1, DEVICE, NPU",
    "TPU, DEVICE, TPU",
    "CPU, HOST, CPU",
    "cpu, HOST, CPU",
    "CPU_PINNED, HOST, CPU",
    "CPU_TIER1, HOST, CPU",
    "DRAM, HOST, CPU",
    "CPU_TIER2, DISK, DISK",
    "disk, DISK, DISK",
    "STORAGE, DISK, DISK",
    "FS, DISK, DISK",
    "nvme, DISK, DISK",
    "SSD, DISK, DISK",
    "3fs, DISK, DISK",
    "DFS, DISK, DISK",
    "NFS, DISK, DISK",
    "OBJ, DISK, DISK",
    "EXTERNAL, EXTERNAL, EXTERNAL",
    "shelf, EXTERNAL, SHELF",
    "s3:bucket, EXTERNAL, S3:BUCKET",
  })
  void shouldPlaceAMedium_whenSpelledAsEnginesDo(@Nullable String medium, Tier tier, String key) {
    assertThat(Media.standard().tier(medium)).isEqualTo(tier);
    assertThat(Media.standard().answerKey(medium)).isEqualTo(key);
  }

  @ParameterizedTest
  @CsvSource({
    ",GPU,true",
    "'',hbm,true",
    "gpu,cuda:1,true",
    "npu:0,NPU,true",
    "GPU,NPU,false",
    ",CPU,false",
    "CPU,cpu,true",
    "DEVICE,gpu,true",
    "lmcache-l2-s3,lmcache-l2-fs,false",
    "Lmcache-L2-fs,lmcache-l2-fs,true",
    "CPU,CPU,true",
    "disk,SSD,false",
    "shelf,SHELF,true",
  })
  void shouldTakeSpellingsForOneMedium_whenTheyAreOfOneDeviceOrDifferInCase(
      @Nullable String one, @Nullable String other, boolean same) {
    assertThat(Media.standard().isSame(one, other)).isEqualTo(same);
    assertThat(Media.standard().isSame(other, one)).isEqualTo(same);
  }
}
