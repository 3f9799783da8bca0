/**
 * Item stores: the MinIO cache (admit until full, never evict) over the append-only arena, private
 * to the process or shared by the jobs of a host. No framework types, no JFR, no rewriting.
 */
@NullMarked
package io.coordl.store;

import org.jspecify.annotations.NullMarked;
