/** Programs whose loading is measured. They print their speed, their waits or their progress. */
package example.loader;
