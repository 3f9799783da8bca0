/**
 * Item stores: the MinIO cache (admit until full, never evict) over the append-only arena, private
 * to the process or shared by the jobs of a host. Independent of libraries, JFR and rewriting.
 */
@NullMarked
package io.coordl.store;

import org.jspecify.annotations.NullMarked;
