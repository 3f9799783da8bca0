/**
 * What would happen if: predictions for one job from what was measured of its pipeline, one class
 * per question. It gets what it needs from {@code recording} and {@code differential} and never
 * touches a file.
 */
@NullMarked
package io.coordl.reports.whatif;

import org.jspecify.annotations.NullMarked;
