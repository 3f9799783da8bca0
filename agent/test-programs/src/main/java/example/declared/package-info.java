/** Training loops that use no library the agent knows. */
package example.declared;
