package example.pytorch;

import java.nio.FloatBuffer;

/**
 * A batch.
 *
 * @param features a direct buffer, in row-major order
 * @param labels one for each row
 */
@SuppressWarnings("ArrayRecordComponent") // Imitates typical user code.
record Rows(FloatBuffer features, float[] labels) {}
