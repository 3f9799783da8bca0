package io.coordl.cache;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ItemStore#fetch} brought: the bytes, read-only from 0 to the item's length; null if
 * the caller is to read storage itself.
 */
public record Fetched(Outcome outcome, @Nullable ByteBuffer content) {}
