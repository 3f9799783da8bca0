package io.coordl.items;

import org.jspecify.annotations.Nullable;

/**
 * The name that identifies an item, together with its size, to all jobs that share it.
 *
 * @param text of the item's path, or of its content
 * @param version modification time in nanoseconds, 0 where the text follows from the content
 * @param ofInode whether a different inode means a different item
 * @param isStamped whether a different change time requires comparing the bytes again
 * @param listed the line of the manifest that the text comes from; null if not from a manifest
 */
record ItemName(
    String text,
    long version,
    boolean ofInode,
    boolean isStamped,
    Manifest.@Nullable Line listed) {}
