// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import java.nio.file.Path;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A child JVM with a broker that acknowledges records for ever, printing each acked number. */
final class BrokerProcess {
  static final String TOPIC = "acked";

  private BrokerProcess() {}

  public static void main(String[] args) throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(Path.of(args[0]))) {
      BrokerClient.createTopic(broker.bootstrapServers(), TOPIC);
      try (KafkaProducer<String, String> producer =
          BrokerClient.producer(broker.bootstrapServers())) {
        for (int i = 0; ; i++) {
          producer.send(new ProducerRecord<>(TOPIC, "k", Integer.toString(i))).get();
          System.out.println("acked " + i);
        }
      }
    } catch (BrokerStartException e) {
      System.out.println("refused " + e.getMessage());
    }
  }

  static Process start(Path dataDir) throws java.io.IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            BrokerProcess.class.getName(),
            dataDir.toString())
        .redirectErrorStream(true)
        .start();
  }
}
