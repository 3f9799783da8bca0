/**
 * The differential profile: which phase a job is in, which steps count, and what follows. Knows
 * batches only through {@link io.coordl.profile.Batches}; no type of a training library.
 */
@NullMarked
package io.coordl.profile;

import org.jspecify.annotations.NullMarked;
