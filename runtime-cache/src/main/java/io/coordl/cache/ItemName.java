package io.coordl.cache;

import org.jspecify.annotations.Nullable;

/**
 * What an item is known by, beside its size, to all who share it.
 *
 * @param text of the item's path, or of its content; never an absolute path
 * @param version modification time in nanoseconds, 0 where the text follows from the content
 * @param listed the line of the manifest that the text comes from, null if from none
 */
record ItemName(String text, long version, Manifest.@Nullable Line listed) {}
