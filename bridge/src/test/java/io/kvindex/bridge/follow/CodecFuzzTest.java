// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.Fuzz;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Incarnation;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.quarantine.QuarantineCodec;
import io.kvindex.model.quarantine.QuarantinedFrame;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Damaged records of our own topics are read as records or refused, whatever they claim. */
class CodecFuzzTest {

  private static final int INPUTS = 40_000;

  private int read;
  private int refused;

  private record Form(byte[] sample, Consumer<byte[]> codec) {}

  @Test
  @Timeout(600)
  void shouldReadOrRefuse_whenRecordsAreDamaged() {
    List<Form> forms = forms();
    Fuzz fuzz = Fuzz.of(CodecFuzzTest.class, INPUTS);
    fuzz.run(
        (random, one) -> {
          Form form = forms.get(random.nextInt(forms.size()));
          byte[] mutant = mutate(form.sample(), random);
          one.on(mutant.length, () -> take(form, mutant));
        });
    assertThat(read + refused).as("read %,d, refused %,d", read, refused).isEqualTo(fuzz.inputs());
    assertThat(refused).isGreaterThan(fuzz.inputs() / 10);
    assertThat(read).isGreaterThan(fuzz.inputs() / 100);
  }

  private void take(Form form, byte[] mutant) {
    try {
      form.codec().accept(mutant);
      read++;
    } catch (MalformedRecordException e) {
      refused++;
    }
  }

  private static byte[] mutate(byte[] sample, Random random) {
    byte[] mutant =
        random.nextInt(5) == 0
            ? Arrays.copyOf(sample, random.nextInt(sample.length + 8))
            : sample.clone();
    for (int i = random.nextInt(4); i >= 0 && mutant.length > 0; i--) {
      mutant[random.nextInt(mutant.length)] = (byte) random.nextInt(256);
    }
    return mutant;
  }

  private static List<Form> forms() {
    Registration registration = Site.engine("e", "tcp://h:1", "tcp://h:2", SourceType.VLLM);
    Incarnation life = new Incarnation(1, 2, 0);
    BatchRecords records =
        new BatchRecords(
            registration,
            registration.options().traits(),
            life,
            new io.kvindex.bridge.produce.RecordSplitter(4_096),
            5,
            4L,
            6);
    records.whole(
        List.of(
            new KvEvent.Stored(
                new Place("GPU", 0, 0, null),
                new StatedContext("lora", null, "", "salt"),
                Parent.of(9),
                Hashes.of(1, 2, 3),
                Hashes.of(4, 5, 6),
                Hashes.EMPTY),
            new KvEvent.Removed(new Place(null, 0, 0, null), Hashes.of(7), Hashes.EMPTY),
            new KvEvent.Gap(1, 3)));
    List<Form> forms = new ArrayList<>();
    records
        .all()
        .forEach(
            record ->
                forms.add(new Form(EventRecordCodec.encode(record), EventRecordCodec::decode)));
    forms.add(
        new Form(
            BridgeProgressCodec.encode(BridgeProgress.claim(registration, 3, 17L)),
            BridgeProgressCodec::decode));
    forms.add(new Form(RegistrationCodec.encode(registration), RegistrationCodec::decode));
    forms.add(
        new Form(
            QuarantineCodec.encode(
                new QuarantinedFrame(life, 7, 8, "truncated", 3, new byte[] {1, 2, 3})),
            QuarantineCodec::decode));
    return forms;
  }
}
