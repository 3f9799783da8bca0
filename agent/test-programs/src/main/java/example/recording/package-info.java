/** Starts a JFR recording at a moment of a job's start-up that the test chooses. */
package example.recording;
