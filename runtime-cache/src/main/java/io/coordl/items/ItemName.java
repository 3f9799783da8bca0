package io.coordl.items;

import org.jspecify.annotations.Nullable;

/**
 * The name that identifies an item, together with its size, to all jobs that share it.
 *
 * @param text derived from the item's path or content
 * @param version modification time in nanoseconds, 0 if the text is derived from the content
 * @param ofInode whether a different inode means a different item
 * @param isStamped whether a different change time requires comparing the bytes again
 * @param listed manifest line that the text comes from; null if none
 */
record ItemName(
    String text,
    long version,
    boolean ofInode,
    boolean isStamped,
    Manifest.@Nullable Line listed) {}
