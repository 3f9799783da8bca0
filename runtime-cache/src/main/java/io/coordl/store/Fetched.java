package io.coordl.store;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@link ItemStore#fetch}: the bytes, read-only from 0 to the item's length; null if the
 * caller has to read storage itself.
 */
public record Fetched(Outcome outcome, @Nullable ByteBuffer content) {}
