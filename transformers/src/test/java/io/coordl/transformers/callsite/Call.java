package io.coordl.transformers.callsite;

import java.nio.file.Path;

/** One way for a program to read a file; what it returns or throws is what is compared. */
public interface Call {
  Object on(Path path) throws Exception;
}
