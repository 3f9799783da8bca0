/** Programs that the tests run in JVMs of their own; none knows the agent. */
package program;
