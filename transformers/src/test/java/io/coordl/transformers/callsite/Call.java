package io.coordl.transformers.callsite;

import java.nio.file.Path;

/** One way to read a file; tests compare its result or exception. */
public interface Call {
  Object on(Path path) throws Exception;
}
