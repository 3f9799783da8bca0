/**
 * What-if predictions for one job from the measurements of its pipeline, one class per question.
 * Its input comes from {@code recording} and {@code differential}; it never accesses a file.
 */
@NullMarked
package io.coordl.reports.whatif;

import org.jspecify.annotations.NullMarked;
