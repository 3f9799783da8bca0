package io.coordl.partition.hosts.membership;

import io.coordl.shared.Contents;
import io.coordl.shared.Liveness;
import java.io.IOException;
import java.nio.file.Path;

/** A host's list of members as what a shared file holds. */
enum ViewContents implements Contents<ViewFile> {
  HERE;

  private static final Header HEADER =
      new Header(ViewFile.MAGIC_VALUE, ViewFile.VERSION_VALUE, 0, ViewFile.HEADER_BYTES);

  @Override
  public String suffix() {
    return ".members";
  }

  @Override
  public String noun() {
    return "list of members";
  }

  @Override
  public String without() {
    return "no other host is asked";
  }

  @Override
  public Header header() {
    return HEADER;
  }

  @Override
  public long minimum() {
    return ViewFile.BYTES;
  }

  @Override
  public ViewFile map(Path path, long bytes) throws IOException {
    return ViewFile.map(path, bytes);
  }

  @Override
  public void format(ViewFile view, long user) {
    view.set(Header.VERSION, HEADER.version());
    view.set(Header.LAYOUT, HEADER.layout());
    view.set(Header.UID, user);
    view.set(Header.CAPACITY, ViewFile.BYTES);
    view.set(Header.MAGIC, HEADER.magic());
  }

  @Override
  public long nextJob(ViewFile view, Path path) throws IOException {
    long job = view.get(Header.JOBS) + 1;
    if (job > Liveness.MAX_JOB) {
      throw new IOException(
          "The list of members " + path + " has been joined too often; " + without() + ".");
    }
    view.set(Header.JOBS, job);
    return job;
  }

  @Override
  public void enter(ViewFile view, long job, Liveness liveness, Path path) {
    // Who is alive is told by the locks.
  }
}
