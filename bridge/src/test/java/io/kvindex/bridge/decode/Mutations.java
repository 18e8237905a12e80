// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/**
 * Damages payloads in the ways peers and networks do. Two thirds change a value and pack the whole
 * again, so that the damage sits inside an event; the rest change raw bytes.
 */
final class Mutations {

  private Mutations() {}

  static byte[] mutate(byte[] payload, Random random) {
    return switch (random.nextInt(12)) {
      case 0 -> Arrays.copyOf(payload, random.nextInt(payload.length));
      case 1 -> Arrays.copyOf(payload, payload.length + 1 + random.nextInt(4));
      case 2 -> flipBits(payload, 1 + random.nextInt(3), random);
      case 3 -> replaceByte(payload, random);
      default -> repack(payload, random);
    };
  }

  /** Changes raw bytes only. */
  static byte[] damage(byte[] payload, Random random) {
    return random.nextBoolean() ? flipBits(payload, 2, random) : replaceByte(payload, random);
  }

  private static byte[] flipBits(byte[] payload, int count, Random random) {
    byte[] copy = payload.clone();
    for (int i = 0; i < count; i++) {
      copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
    }
    return copy;
  }

  /** Mostly heads of containers and strings: wrong lengths and types. */
  private static byte[] replaceByte(byte[] payload, Random random) {
    byte[] copy = payload.clone();
    copy[random.nextInt(copy.length)] = (byte) (0x80 + random.nextInt(0x80));
    return copy;
  }

  private static byte[] repack(byte[] payload, Random random) {
    try {
      ArrayValue batch = MessagePack.newDefaultUnpacker(payload).unpackValue().asArrayValue();
      List<Value> members = new ArrayList<>(batch.list());
      int member = random.nextInt(20) == 0 ? random.nextInt(members.size()) : 1;
      int changes = 1 + random.nextInt(2);
      for (int i = 0; i < changes; i++) {
        members.set(member, change(members.get(member), member == 1, random));
      }
      try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
        packer.packValue(ValueFactory.newArray(members));
        return packer.toByteArray();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Replaces the value or, more often, one somewhere inside of it. */
  private static Value change(Value value, boolean inside, Random random) {
    if (value.isArrayValue() && value.asArrayValue().size() > 0 && (inside || stayIn(random))) {
      List<Value> elements = new ArrayList<>(value.asArrayValue().list());
      int at = random.nextInt(elements.size());
      switch (inside ? 9 : random.nextInt(10)) {
        case 0 -> elements.remove(at);
        case 1 -> elements.add(at, anyValue(random));
        default -> elements.set(at, change(elements.get(at), false, random));
      }
      return ValueFactory.newArray(elements);
    } else if (value.isMapValue() && value.asMapValue().size() > 0 && stayIn(random)) {
      return changeMap(value, random);
    }
    return anyValue(random);
  }

  private static Value changeMap(Value value, Random random) {
    List<Value> flat = new ArrayList<>();
    for (Map.Entry<Value, Value> entry : value.asMapValue().entrySet()) {
      flat.add(entry.getKey());
      flat.add(entry.getValue());
    }
    int at = random.nextInt(flat.size() / 2) * 2;
    switch (random.nextInt(10)) {
      case 0 -> flat.subList(at, at + 2).clear();
      case 1 -> flat.set(at, anyValue(random));
      case 2 -> flat.addAll(List.of(flat.get(at), anyValue(random)));
      default -> flat.set(at + 1, change(flat.get(at + 1), false, random));
    }
    return ValueFactory.newMap(flat.toArray(new Value[0]), false);
  }

  private static boolean stayIn(Random random) {
    return random.nextInt(5) > 0;
  }

  private static Value anyValue(Random random) {
    return switch (random.nextInt(14)) {
      case 0 -> ValueFactory.newNil();
      case 1 -> ValueFactory.newBoolean(random.nextBoolean());
      case 2 -> ValueFactory.newInteger(random.nextLong());
      case 3 -> ValueFactory.newInteger(random.nextInt(200) - 40);
      case 4 -> ValueFactory.newInteger(new BigInteger(Long.SIZE, random));
      case 5 -> ValueFactory.newFloat(random.nextInt(4) == 0 ? Double.NaN : random.nextDouble());
      case 6 -> ValueFactory.newString(randomBytes(random, 40));
      case 7 -> ValueFactory.newString(random.nextBoolean() ? "GPU" : "BlockStored");
      case 8 -> ValueFactory.newBinary(randomBytes(random, 40));
      case 9 -> ValueFactory.newArray(ValueFactory.newInteger(1), ValueFactory.newNil());
      case 10 -> ValueFactory.newMap(ValueFactory.newString("cache_salt"), ValueFactory.newNil());
      case 12 -> ValueFactory.newString("n".repeat(random.nextInt(6_000)));
      case 11 -> ValueFactory.newExtension((byte) random.nextInt(100), randomBytes(random, 20));
      default -> nested(random.nextInt(90));
    };
  }

  private static Value nested(int depth) {
    Value value = ValueFactory.newNil();
    for (int i = 0; i < depth; i++) {
      value = ValueFactory.newArray(value);
    }
    return value;
  }

  private static byte[] randomBytes(Random random, int atMost) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int length = random.nextInt(atMost);
    for (int i = 0; i < length; i++) {
      bytes.write(random.nextInt(256));
    }
    return bytes.toByteArray();
  }
}
