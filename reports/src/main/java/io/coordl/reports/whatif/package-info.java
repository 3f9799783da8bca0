/**
 * What-if predictions for one job from the measurements of its pipeline, one class per question.
 * The input comes from {@code recording} and {@code differential}; nothing here accesses a file.
 */
@NullMarked
package io.coordl.reports.whatif;

import org.jspecify.annotations.NullMarked;
