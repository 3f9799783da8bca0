package io.coordl.reports.recording;

/** A recording in full: its totals, and what its frequent events come to. */
public record JobActivity(JobRecording recording, Activity activity) {}
