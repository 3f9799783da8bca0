/** Programs that do nothing but load their data, and tell how fast. */
package example.loader;
