// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.streams.KafkaClientSupplier;

/** The import table of docs/architecture.md, and no cycles between packages. */
@AnalyzeClasses(packages = "io.kvindex", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  private static final String OURS = "io.kvindex..";
  private static final Set<String> KAFKA_CLIENTS =
      Set.of("KafkaConsumer.<init>", "KafkaProducer.<init>", "Admin.create", "KafkaStreams.<init>");

  @ArchTest static final ArchRule modelKnowsNobody = mayUse("model");
  @ArchTest static final ArchRule bridgeKnowsTheModel = mayUse("bridge", "io.kvindex.model..");
  @ArchTest static final ArchRule streamsKnowsTheModel = mayUse("streams", "io.kvindex.model..");
  @ArchTest static final ArchRule sandboxKnowsTheModel = mayUse("sandbox", "io.kvindex.model..");

  @ArchTest
  static final ArchRule queryKnowsTheModelAndThePublicSideOfStreams =
      mayUse(
          "query",
          "io.kvindex.model..",
          "io.kvindex.streams",
          "io.kvindex.streams.index",
          "io.kvindex.streams.view");

  @ArchTest
  static final ArchRule noPackageCycles =
      slices().matching("io.kvindex.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule waitsAreNeverSleeps =
      noClasses().should().callMethod(Thread.class, "sleep", long.class);

  /** Else a client without TLS and password would be noticed at a site that needs them. */
  @ArchTest
  static final ArchRule kafkaClientsGetTheSitesSettings =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.kvindex.sandbox..")
          .should(
              ArchCondition.from(
                  describe(
                      "make a Kafka client and do not know ClientKind",
                      one ->
                          makesAKafkaClient(one)
                              && !isToldByKafkaStreams(one)
                              && !knowsTheSite(one)
                              && one.getEnclosingClass().stream()
                                  .noneMatch(ArchitectureTest::knowsTheSite))));

  private static boolean makesAKafkaClient(JavaClass one) {
    return one.getAccessesFromSelf().stream()
        .anyMatch(
            access ->
                KAFKA_CLIENTS.contains(
                    access.getTargetOwner().getSimpleName() + "." + access.getName()));
  }

  /** It makes clients with the settings it is given, which CopySettings has made. */
  private static boolean isToldByKafkaStreams(JavaClass one) {
    return one.isAssignableTo(KafkaClientSupplier.class)
        || one.isAssignableTo(Producer.class)
        || one.isAssignableTo(Consumer.class);
  }

  /** By itself, or through the settings of its module. */
  private static boolean knowsTheSite(JavaClass one) {
    return one.getDirectDependenciesFromSelf().stream()
        .map(dependency -> dependency.getTargetClass().getSimpleName())
        .anyMatch(Set.of("ClientKind", "KafkaSettings")::contains);
  }

  private static ArchRule mayUse(String module, String... others) {
    String own = "io.kvindex." + module + "..";
    String[] allowed = java.util.Arrays.copyOf(others, others.length + 1);
    allowed[others.length] = own;
    return classes()
        .that()
        .resideInAPackage(own)
        .should()
        .onlyDependOnClassesThat(
            com.tngtech.archunit.base.DescribedPredicate.not(
                    com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage(OURS))
                .or(
                    com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage(
                        allowed)));
  }
}
