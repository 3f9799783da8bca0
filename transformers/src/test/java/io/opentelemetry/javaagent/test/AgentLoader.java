package io.opentelemetry.javaagent.test;

/** Stands in for another agent's class loader, by its name. */
public final class AgentLoader extends ClassLoader {
  private final byte[] program;

  /** Defines {@link program.ReadingProgram} itself. */
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
