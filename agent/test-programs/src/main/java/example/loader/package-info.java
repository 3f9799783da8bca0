/** Programs that only load their data and print how fast. */
package example.loader;
