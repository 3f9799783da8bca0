/**
 * Data-set items: which files are items, what identifies their contents, and how the agent opens
 * them. Independent of the stores.
 */
@NullMarked
package io.coordl.items;

import org.jspecify.annotations.NullMarked;
