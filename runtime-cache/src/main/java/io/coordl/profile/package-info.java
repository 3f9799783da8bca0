/**
 * The differential profile: controls which phase a job is in, which steps are measured, and which
 * stage follows. Handles batches only through {@link io.coordl.profile.Batches}, without types of a
 * training library.
 */
@NullMarked
package io.coordl.profile;

import org.jspecify.annotations.NullMarked;
