/**
 * From the bytes of a ZMQ message to engine events: frames, msgpack and the layouts of each engine
 * family. Pure functions of their input; nothing here waits, logs or keeps state between calls.
 */
@NullMarked
package io.kvindex.bridge.decode;

import org.jspecify.annotations.NullMarked;
