// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Harnesses may use everything of ours, and keep the other rules. */
@AnalyzeClasses(
    packages = "io.kvindex.testing",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule noPackageCycles =
      slices().matching("io.kvindex.testing.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule waitsAreNeverSleeps =
      noClasses().should().callMethod(Thread.class, "sleep", long.class);
}
