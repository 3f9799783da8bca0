package io.coordl.reports.recording;

/** A recording in full: its totals and the aggregates of its frequent events. */
public record JobActivity(JobRecording recording, Activity activity) {}
