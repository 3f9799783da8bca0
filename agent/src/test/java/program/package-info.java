/** Programs that the tests run in separate JVMs; none knows the agent. */
package program;
