/**
 * Shared by the exit summary and all reports: counts the epochs of a job, derives the one advice
 * from them, and formats figures. Depends only on the events.
 */
@NullMarked
package io.coordl.telemetry.advice;

import org.jspecify.annotations.NullMarked;
