package io.coordl.store;

import io.coordl.items.ItemKey;

/**
 * The form of a decoded item: everything besides the item's own bytes that determines its decoded
 * bytes. Two forms are equal if their texts are.
 *
 * @param text the library and code that decode the item, their versions and settings
 * @param id 64-bit hash of the text
 */
public record DecodedForm(String text, long id) {
  public static DecodedForm of(String text) {
    return new DecodedForm(text, ItemKey.of(text, 0, 0, 0).low());
  }
}
