package io.coordl.cache;

/**
 * The form in which an item is kept: everything, but for the item's own bytes, that decides what
 * its decoded bytes are. Two forms are equal if their texts are.
 *
 * @param text which library and code decodes it, of which versions, with which settings
 * @param id 64 bits of the text
 */
public record DecodedForm(String text, long id) {
  public static DecodedForm of(String text) {
    return new DecodedForm(text, ItemKey.of(text, 0, 0, 0).low());
  }
}
