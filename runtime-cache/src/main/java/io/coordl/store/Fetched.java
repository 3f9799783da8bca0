package io.coordl.store;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@link ItemStore#fetch}.
 *
 * @param content the bytes, read-only from 0 to the item's length; null if the caller must read
 *     storage
 */
public record Fetched(Outcome outcome, @Nullable ByteBuffer content) {}
