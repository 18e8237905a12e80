// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the README says of the proxy: it can be copied, for it knows nothing of kvindex's code. */
@AnalyzeClasses(
    packages = "io.kvindex.examples",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule theProxyKnowsTheApiOnly =
      noClasses()
          .that()
          .resideInAPackage("io.kvindex.examples.proxy")
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages(
              "io.kvindex.examples.proxy",
              "java..",
              "com.sun.net.httpserver",
              "com.fasterxml.jackson..",
              "org.jspecify..",
              "picocli");

  @ArchTest
  static final ArchRule noPackageCycles =
      slices().matching("io.kvindex.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule waitsAreNeverSleeps =
      noClasses().should().callMethod(Thread.class, "sleep", long.class);
}
