// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.kafka;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Settings of Kafka clients from a properties file, the environment and the command line, later
 * ones above earlier ones. Names may have the prefix {@code kafka.}, so that a file can hold more
 * than them, or none, as the files of Kafka's own tools.
 */
public final class KafkaProperties {

  /** Environment variable with lines as in the file, above the file's. */
  public static final String ENVIRONMENT = "KVINDEX_KAFKA_PROPERTIES";

  private static final String BOOTSTRAP = "bootstrap.servers";
  private static final String DEFAULT_BOOTSTRAP = "127.0.0.1:9092";
  private static final String PREFIX = "kafka.";

  private KafkaProperties() {}

  /**
   * What all Kafka clients of a process are given. Secrets in it are Kafka's {@code Password}s,
   * which print as {@code [hidden]}.
   *
   * @param bootstrapServers null or blank = those of the settings, else {@code 127.0.0.1:9092}
   * @param file null = none
   * @param environment variables of the process
   * @param flags {@code NAME=VALUE} each
   * @throws IllegalArgumentException if one can not be used; the message says where it stands and
   *     what to do, without secrets
   */
  public static Map<String, Object> read(
      @Nullable String bootstrapServers,
      @Nullable Path file,
      Map<String, String> environment,
      List<String> flags) {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put(BOOTSTRAP, DEFAULT_BOOTSTRAP);
    KafkaSettingCheck check = new KafkaSettingCheck();
    if (file != null) {
      check.addTo(settings, load(file), file.toString());
    }
    String lines = environment.getOrDefault(ENVIRONMENT, "");
    check.addTo(settings, parse(new StringReader(lines), ENVIRONMENT), ENVIRONMENT);
    check.addTo(settings, flags(flags), "--kafka-property");
    if (bootstrapServers != null && !bootstrapServers.isBlank()) {
      settings.put(BOOTSTRAP, bootstrapServers.strip());
    }
    KafkaSettingCheck.together(settings);
    return settings;
  }

  private static Map<String, String> load(Path file) {
    try (Reader reader = Files.newBufferedReader(file)) {
      return parse(reader, file.toString());
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--kafka-config " + file + " can not be read: " + e.getClass().getSimpleName(), e);
    }
  }

  private static Map<String, String> parse(Reader lines, String from) {
    Properties properties = new Properties();
    try {
      properties.load(lines);
    } catch (IOException | IllegalArgumentException e) {
      // Its message may quote a line, and a line may be a password.
      throw new IllegalArgumentException(from + " is no properties file of UTF-8 text", e);
    }
    Map<String, String> found = new TreeMap<>();
    for (String name : properties.stringPropertyNames()) {
      put(found, name, properties.getProperty(name), from);
    }
    return found;
  }

  private static Map<String, String> flags(List<String> flags) {
    Map<String, String> found = new LinkedHashMap<>();
    for (String flag : flags) {
      int equals = flag.indexOf('=');
      if (equals < 1) {
        String said = equals < 0 ? flag : "an empty name";
        throw new IllegalArgumentException("--kafka-property has " + said + ", not NAME=VALUE");
      }
      String name = flag.substring(0, equals).strip();
      if (bare(name).equals(BOOTSTRAP)) {
        throw new IllegalArgumentException("--kafka-property " + BOOTSTRAP + ": use --kafka");
      }
      put(found, name, flag.substring(equals + 1), "--kafka-property");
    }
    return found;
  }

  private static void put(Map<String, String> to, String name, String value, String from) {
    String before = to.put(bare(name), value);
    if (before != null && !before.equals(value)) {
      throw new IllegalArgumentException(from + " has two values for " + bare(name));
    }
  }

  private static String bare(String name) {
    return name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
  }
}
