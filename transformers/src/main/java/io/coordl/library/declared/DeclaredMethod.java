package io.coordl.library.declared;

import java.lang.constant.MethodTypeDesc;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A method that the user names: {@code my.Loader#next}, or {@code my.Loader#next(I)[[F} for one of
 * several overloads.
 *
 * @param argument as given, such as {@code batch=my.Loader#next}
 * @param owner internal name of its class
 * @param method its name, followed by its descriptor if the user gave one
 */
record DeclaredMethod(String argument, String owner, String method) {
  static final String EXPECTED = "none, CLASS#METHOD, or CLASS#METHOD(DESCRIPTOR) for one overload";

  private static final String NAME = "\\p{javaJavaIdentifierStart}\\p{javaJavaIdentifierPart}*";
  private static final Pattern FORM =
      Pattern.compile("(" + NAME + "(?:\\." + NAME + ")*)#(" + NAME + ")(\\(.*)?");

  /**
   * Parses a value.
   *
   * @throws IllegalArgumentException if the value has another form
   */
  static DeclaredMethod parse(String key, String value) {
    Matcher form = FORM.matcher(value);
    if (!form.matches()) {
      throw new IllegalArgumentException(value);
    }
    String descriptor = form.group(3) == null ? "" : form.group(3);
    if (!descriptor.isEmpty() && !isDescriptor(descriptor)) {
      throw new IllegalArgumentException(value);
    }
    return new DeclaredMethod(
        key + "=" + value, form.group(1).replace('.', '/'), form.group(2) + descriptor);
  }

  private static boolean isDescriptor(String text) {
    try {
      return MethodTypeDesc.ofDescriptor(text).descriptorString().equals(text);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Returns the name of its rule, as {@code HookRule.describe} prints it. */
  String rule() {
    return className() + "." + method + (method.indexOf('(') < 0 ? "(..)" : "");
  }

  String className() {
    return owner.replace('/', '.');
  }
}
