package example.pytorch;

import java.nio.FloatBuffer;

/**
 * A batch.
 *
 * @param features a direct buffer, row after row
 * @param labels one for each row
 */
@SuppressWarnings("ArrayRecordComponent") // As people write it.
record Rows(FloatBuffer features, float[] labels) {}
