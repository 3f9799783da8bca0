package example.truth;

import java.net.URI;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** An absolute path of {@link SlowStorage}. */
record SlowPath(SlowPath.Tree system, String name) implements Path {
  @Override
  public FileSystem getFileSystem() {
    return system;
  }

  @Override
  public boolean isAbsolute() {
    return true;
  }

  @Override
  public Path getRoot() {
    return new SlowPath(system, "/");
  }

  @Override
  public Path getFileName() {
    return new SlowPath(system, name.substring(name.lastIndexOf('/') + 1));
  }

  @Override
  public Path getParent() {
    int slash = name.lastIndexOf('/');
    return name.equals("/")
        ? null
        : new SlowPath(system, slash <= 0 ? "/" : name.substring(0, slash));
  }

  @Override
  public Path toAbsolutePath() {
    return this;
  }

  @Override
  public Path toRealPath(LinkOption... options) {
    return this;
  }

  @Override
  public Path normalize() {
    return this;
  }

  @Override
  public URI toUri() {
    return URI.create("slow://" + name);
  }

  @Override
  public String toString() {
    return name;
  }

  @Override
  public int compareTo(Path other) {
    return name.compareTo(other.toString());
  }

  @Override
  public int getNameCount() {
    return (int) Arrays.stream(name.split("/", -1)).filter(part -> !part.isEmpty()).count();
  }

  private UnsupportedOperationException unsupported() {
    return new UnsupportedOperationException(name + " supports only reading.");
  }

  @Override
  public Path getName(int index) {
    throw unsupported();
  }

  @Override
  public Path subpath(int begin, int end) {
    throw unsupported();
  }

  @Override
  public boolean startsWith(Path other) {
    return name.startsWith(other.toString());
  }

  @Override
  public boolean endsWith(Path other) {
    return name.endsWith(other.toString());
  }

  @Override
  public Path resolve(Path other) {
    throw unsupported();
  }

  @Override
  public Path relativize(Path other) {
    throw unsupported();
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw unsupported();
  }

  /** A read-only file system of {@link SlowPath} objects. */
  static final class Tree extends FileSystem {
    private final FileSystemProvider provider;

    Tree(FileSystemProvider provider) {
      this.provider = provider;
    }

    @Override
    public FileSystemProvider provider() {
      return provider;
    }

    @Override
    public void close() {}

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public boolean isReadOnly() {
      return true;
    }

    @Override
    public String getSeparator() {
      return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
      return List.of(new SlowPath(this, "/"));
    }

    @Override
    public Iterable<FileStore> getFileStores() {
      return List.of();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
      return Set.of("basic");
    }

    @Override
    public Path getPath(String first, String... more) {
      return new SlowPath(this, first);
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
      throw new UnsupportedOperationException("Paths are not matched here.");
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
      throw new UnsupportedOperationException("Files belong to nobody here.");
    }

    @Override
    public WatchService newWatchService() {
      throw new UnsupportedOperationException("Files do not change here.");
    }
  }
}
