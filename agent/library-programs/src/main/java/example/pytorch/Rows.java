package example.pytorch;

import java.nio.FloatBuffer;

/**
 * A batch.
 *
 * @param features a direct buffer, row after row
 * @param labels one for each row
 */
record Rows(FloatBuffer features, float[] labels) {}
