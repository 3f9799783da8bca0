/**
 * Data-set items: which files count as items, what identifies their contents, and how the agent
 * opens them. Knows no store.
 */
@NullMarked
package io.coordl.items;

import org.jspecify.annotations.NullMarked;
