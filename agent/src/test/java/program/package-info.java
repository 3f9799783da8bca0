/** Programs that the tests run in separate JVMs; none depends on the agent. */
package program;
