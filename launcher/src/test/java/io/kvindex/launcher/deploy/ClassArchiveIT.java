// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.deploy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The archive of classes that the build makes, and one that is of no use. */
@Timeout(60)
class ClassArchiveIT {

  private static final Path JAR = Path.of(System.getProperty("kvindex.child.jar", "none"));

  private static String run(String script) throws Exception {
    Process process =
        new ProcessBuilder("bash", "-c", script)
            .directory(Checkout.ROOT.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }

  /** How many classes the program took from the archive; where it stands is its first argument. */
  private static long taken(Path jar) throws Exception {
    String said =
        run(
            "source deploy/java.sh; java=$(find_java); java_options $java;"
                + " class_archive_options "
                + jar
                + "; $java ${java_options[@]} -Xlog:class+load -jar "
                + jar
                + " --version");
    assertThat(said).contains("kvindex ").doesNotContain("[warning]");
    return said.lines()
        .filter(line -> line.contains(" io.kvindex.") && line.contains("shared objects file"))
        .count();
  }

  @Test
  void shouldTakeClassesFromTheArchive_whenItIsOfThatJar() throws Exception {
    assumeThat(JAR).as("only where the jar is of this build").exists();
    assertThat(taken(JAR)).isGreaterThan(10);
    Path scratch = Files.createTempDirectory("class-archive");
    Path other = Files.copy(JAR, scratch.resolve("kvindex.jar"));
    Path archive = scratch.resolve("kvindex.jsa");
    Files.createSymbolicLink(scratch.resolve("lib"), JAR.resolveSibling("lib"));
    Files.copy(JAR.resolveSibling("kvindex.jsa"), archive);
    Files.setLastModifiedTime(archive, FileTime.from(Instant.now().plusSeconds(60)));
    assertThat(taken(other)).as("it is of another jar").isZero();
    Files.setLastModifiedTime(archive, FileTime.from(Instant.EPOCH));
    assertThat(taken(other)).as("it is older than the jar").isZero();
  }
}
