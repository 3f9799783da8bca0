package io.opentelemetry.javaagent.test;

/** Stands in for the class loader of another agent, which is recognised by its package. */
public final class AgentLoader extends ClassLoader {
  private final byte[] program;

  /** Creates a loader that defines {@code program.ReadingProgram} from these bytes. */
  public AgentLoader(byte[] program) {
    super(AgentLoader.class.getClassLoader());
    this.program = program;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    return name.equals("program.ReadingProgram")
        ? defineClass(name, program, 0, program.length)
        : super.loadClass(name, resolve);
  }
}
