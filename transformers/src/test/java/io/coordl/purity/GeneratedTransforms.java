package io.coordl.purity;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Writes and compiles small transforms that consist of pure pieces and, if impure, one impure
 * piece. They call the pieces through helpers at random depth. The same seed gives the same
 * transforms.
 */
final class GeneratedTransforms {
  /**
   * One thing that a transform does with its argument {@code v}.
   *
   * @param beside top-level classes that it needs; in all texts, {@code #} stands for a unique
   *     suffix, and {@code Self} for the transform's class
   * @param members members that it adds to the transform
   * @param expression what the transform evaluates; {@code self} stands for the transform
   * @param change statements with which other code changes what the piece reads
   */
  record Piece(String name, String beside, String members, String expression, String change) {
    Piece(String name, String beside, String members, String expression) {
      this(name, beside, members, expression, "");
    }
  }

  /** A transform: its class, whether it is pure, and its pieces. */
  record Generated(String className, boolean pure, String pieces) {}

  static final List<Piece> PURE =
      List.of(
          new Piece("lambda", "", "private final Part p# = x -> x * 2;", "self.p#.apply(v)"),
          new Piece(
              "lambda of a number",
              "",
              "private final Part p#; { float k = 3 + hashCode() % 1; p# = x -> x * k; }",
              "self.p#.apply(v)"),
          new Piece(
              "lambda of an object",
              "final class K# { final float x; K#(float x) { this.x = x; }"
                  + " float at(float v) { return v * x; } }",
              "private final Part p#; { K# k = new K#(2); p# = x -> k.at(x); }",
              "self.p#.apply(v)"),
          new Piece(
              "method reference",
              "final class K# { final float x; K#(float x) { this.x = x; }"
                  + " float at(float v) { return v * x; } }",
              "private final Part p# = new K#(2)::at;",
              "self.p#.apply(v)"),
          new Piece(
              "cached number",
              "",
              "private final String n# = \"ab\"; private int h#;"
                  + " int lazy#() { if (h# == 0) { h# = 31 * n#.length(); } return h#; }",
              "v + self.lazy#()"),
          new Piece(
              "cached text",
              "",
              "private final String n# = \"ab\"; private transient String h#;"
                  + " String lazy#() { if (h# == null) { h# = n#.concat(\"c\"); } return h#; }",
              "v + self.lazy#().length()"),
          new Piece(
              "fields that nothing reads",
              "final class K# { final java.util.Random r = new java.util.Random(); float open = 1;"
                  + " private int n; final float x = 2; float at(float v) { return v * x; }"
                  + " float draw() { n++; return r.nextFloat() * open; } }",
              "private final K# k# = new K#();",
              "self.k#.at(v)"),
          new Piece(
              "object that nobody closes",
              "final class K# implements AutoCloseable { private int n; final float x = 2;"
                  + " public void close() { n++; } float at(float v) { return v * x; } }",
              "private final K# k# = new K#();",
              "self.k#.at(v)"),
          new Piece(
              "rows that know their reader",
              "final class P# implements Iterable<Float>, java.io.Closeable { private final"
                  + " java.io.Reader in = new java.io.StringReader(\"a\"); private final"
                  + " Map<String, Float> names = new HashMap<>(); P#() { names.put(\"a\", 2f); }"
                  + " float of(String name) { return names.get(name); } public Iterator<Float>"
                  + " iterator() { throw new IllegalStateException(\"\" + in); } public void"
                  + " close() throws java.io.IOException { in.close(); } } final class W# { private"
                  + " final P# p; W#(P# p) { this.p = p; } float at(String name) { return p == null"
                  + " ? 0 : p.of(name); } }",
              "private final List<W#> w# = List.of(new W#(new P#()));",
              "v * self.w#.get(0).at(\"a\")"),
          new Piece(
              "text of its own",
              "final class K# { final float x; K#(float x) { this.x = x; } public String toString()"
                  + " { return \"k\" + x; } }",
              "private final K# k# = new K#(1);",
              "v + (\"\" + self.k#).length() + String.valueOf(self.k#).length()"),
          new Piece(
              "text of a record and of a constant",
              "record R#(float a, String b) {} enum M# { A }",
              "private final R# r# = new R#(1, \"x\");",
              "v + (\"\" + self.r# + M#.A).length()"),
          new Piece(
              "set of records",
              "record R#(float a) {}",
              "static float t#() { Set<R#> s = new HashSet<>(); s.add(new R#(1)); s.add(new R#(2));"
                  + " float t = 0; for (R# r : s) { t += r.a(); } return t; }",
              "v + t#()"),
          new Piece(
              "format of numbers and strings",
              "",
              "private final String n# = \"ab\"; static String t#(String o, int i) { return"
                  + " String.format(Locale.ROOT, \"%s-%05d-%s.png%%\", o, i, i > 2 ? \"a\" : null);"
                  + " }",
              "v + t#(self.n#, 3).length() + String.format(Locale.ROOT, \"%.2f%n\", v).length()"),
          new Piece(
              "generator from a seed",
              "",
              "private final long s# = 3; float t#() { java.util.Random r = new"
                  + " java.util.Random(s#); float t = 0; for (int i = 0; i < 3; i++) { t +="
                  + " r.nextInt(5); } return t; }",
              "v + self.t#() + (float) new java.util.Random(7).nextGaussian()"),
          new Piece(
              "sorted maps and queues",
              "",
              "static float t#(float v) { TreeMap<String, Float> m = new TreeMap<>();"
                  + " m.merge(\"a\", v, Float::sum); PriorityQueue<Float> q = new"
                  + " PriorityQueue<>((a, b) -> Float.compare(b, a)); q.add(1f); q.add(2f);"
                  + " TreeSet<Float> s = new TreeSet<>(q); return m.firstEntry().getValue() +"
                  + " q.poll() + s.first(); }",
              "v + t#(v)"),
          new Piece(
              "formatter of dates",
              "",
              "static final java.time.format.DateTimeFormatter D# = java.time.format"
                  + ".DateTimeFormatter.ofPattern(\"dd.MM.yyyy\", Locale.ROOT);",
              "v + java.time.LocalDate.parse(\"01.02.2003\", D#).getDayOfYear()"),
          new Piece(
              "object that it fills",
              "class B# { float x; String s; void up(float by) { x += by; } }"
                  + " final class C# extends B# { int n; }",
              "static float t#(float v) { C# c = new C#(); c.x = v; c.s = \"ab\"; c.up(2); c.n++;"
                  + " return c.x + c.n + c.s.length(); }",
              "v + t#(v)"),
          new Piece(
              "object with a list that it fills",
              "final class C# { final List<Float> l = new ArrayList<>(); float[] a; void add(float"
                  + " x) { l.add(x); a = new float[2]; a[0] = x; } }",
              "static float t#(float v) { C# c = new C#(); c.add(v); c.a[1] = 3; return"
                  + " c.l.get(0) + c.a[0] + c.a[1]; }",
              "v + t#(v)"),
          new Piece(
              "parser that moves on",
              "final class P# { private final String text; private int at; P#(String text) {"
                  + " this.text = text; } float next() { int from = at; at = text.indexOf(',',"
                  + " from) + 1; return Float.parseFloat(text.substring(from, at - 1)); } }",
              "static float t#(float v) { P# p = new P#(\"1,2,\"); return v * p.next() + p.next();"
                  + " }",
              "v + t#(v)"),
          new Piece("math", "", "", "(float) Math.sqrt(Math.abs(v)) * 1.5f"),
          new Piece("final field", "", "private final float f# = 2;", "v * self.f#"),
          new Piece("private field", "", "private float f#; { f# = 3; }", "v * self.f# + self.f#"),
          new Piece("constant", "", "static final int C# = 7;", "v + C#"),
          new Piece(
              "string",
              "",
              "static final String S# = \"abc\".concat(\"d\");",
              "v + S#.length() + S#.substring(1).indexOf('c') + (S# + v).length()"),
          new Piece(
              "record",
              "record R#(float a, Inner# b) {} record Inner#(String c) {}",
              "private final R# r# = new R#(2, new Inner#(\"x\"));",
              "v * self.r#.a() + self.r#.b().c().length()"),
          new Piece(
              "enum",
              "enum M# { A(1), B(2); final float x; M#(float x) { this.x = x; } }",
              "private final M# m# = M#.B;",
              "v * self.m#.x + self.m#.ordinal() + switch (self.m#) { case A -> 1; case B -> 2; }"),
          new Piece(
              "array",
              "",
              "private final float[] w# = {1, 2, 3};",
              "v * self.w#[1] + self.w#.length"),
          new Piece(
              "array in a loop",
              "",
              "private final float[] w# = {1, 2}; float sum#(float v) {"
                  + " float s = 0; for (float x : w#) { s += x * v; } return s; }",
              "self.sum#(v)"),
          new Piece(
              "static table",
              "",
              "private static final int[] T# = new int[8];"
                  + " static { for (int i = 0; i < 8; i++) { T#[i] = i * i; } }",
              "v + T#[3]"),
          new Piece(
              "table of rows",
              "",
              "private static final float[][] T# = {{1, 2}, {3, 4}};",
              "v + T#[1][0] + T#.length"),
          new Piece(
              "list", "", "private final List<Float> l# = List.of(1f, 2f);", "v + self.l#.get(1)"),
          new Piece(
              "map",
              "",
              "final Map<String, Float> m# = Map.of(\"a\", 1f);",
              "v + self.m#.get(\"a\")"),
          new Piece(
              "filled list",
              "",
              "private final List<Float> l# = new ArrayList<>();" + " { l#.add(1f); l#.add(2f); }",
              "v + self.l#.get(1) + self.l#.size()"),
          new Piece(
              "filled map",
              "",
              "private static final Map<String, Float> M# = new HashMap<>();"
                  + " static { M#.put(\"a\", 2f); }",
              "v + M#.getOrDefault(\"a\", 1f)"),
          new Piece(
              "sorted map",
              "",
              "private final Map<String, Float> m# = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);"
                  + " { m#.put(\"a\", 2f); }",
              "v + self.m#.getOrDefault(\"A\", 1f)"),
          new Piece(
              "copied array",
              "final class K# { private final float[] w; K#(float[] w) { this.w = w.clone(); }"
                  + " float at(int i) { return w[i]; } }",
              "private final K# k# = new K#(new float[] {1, 2});",
              "v * self.k#.at(1)"),
          new Piece(
              "locals",
              "",
              "static float local#(float v) { float[] a = new float[3]; a[1] = v;"
                  + " List<Float> l = new ArrayList<>(); for (float x : a) { l.add(x); }"
                  + " StringBuilder b = new StringBuilder(); b.append(v).append('x');"
                  + " return l.get(1) + b.length(); }",
              "local#(v)"),
          new Piece(
              "chain",
              "final class A# { final B# b; A#(B# b) { this.b = b; } }"
                  + " final class B# { final float x; B#(float x) { this.x = x; } }",
              "final A# a# = new A#(new B#(2));",
              "v * self.a#.b.x"),
          new Piece(
              "format",
              "",
              "",
              "v + String.format(Locale.ROOT, \"%.2f\", v).length() +"
                  + " \"Ab\".toLowerCase(Locale.ROOT).length()"),
          new Piece(
              "optional",
              "",
              "private final Optional<Float> o# = Optional.of(2f);",
              "v * self.o#.orElse(1f)"),
          new Piece(
              "set in initialiser", "", "private static float s#; static { s# = 4; }", "v * s#"),
          new Piece(
              "decimal",
              "",
              "private static final java.math.BigDecimal D# = new java.math.BigDecimal(\"2.5\");",
              "v * D#.floatValue()"),
          new Piece(
              "inherited",
              "abstract class Up# { private final float x; Up#(float x) { this.x = x; }"
                  + " float up(float v) { return v * x; } }"
                  + " final class Down# extends Up# { Down#() { super(2); } }",
              "private final Up# u# = new Down#();",
              "self.u#.up(v)"),
          new Piece(
              "interface",
              "interface O# { float at(float v); default float twice(float v) { return 2 * at(v); }"
                  + " } record Plus#(float x) implements O# { public float at(float v) { return v +"
                  + " x; } }",
              "private final O# o# = new Plus#(1);",
              "self.o#.twice(v)"),
          new Piece(
              "stream",
              "",
              "private final List<Float> l# = List.of(1f, 2f);",
              "v + self.l#.stream().map(y -> y * v).reduce(0f, Float::sum)"),
          new Piece(
              "exception",
              "",
              "static float ex#(float v) { try { if (v > 9) { throw new"
                  + " IllegalStateException(\"x\"); } return v; } catch (IllegalStateException e) {"
                  + " return e.getMessage().length(); } }",
              "ex#(v)"));

  static final List<Piece> IMPURE =
      List.of(
          new Piece(
              "field set by another class",
              "final class W# { static void set(Self s) { s.f# = 5; } }",
              "float f# = 1;",
              "v * self.f#",
              "W#.set(self);"),
          new Piece(
              "field set by reflection",
              "",
              "public float f# = 1;",
              "v * self.f#",
              "try { Self.class.getField(\"f#\").set(self, 5f); } catch"
                  + " (ReflectiveOperationException e) { throw new IllegalStateException(e); }"),
          new Piece(
              "field read through an interface",
              "interface O# { float at(float v); }"
                  + " class P# implements O# { public float x = 1;"
                  + " public float at(float v) { return v * x; } }",
              "private final O# o# = new P#();",
              "self.o#.at(v)",
              "((P#) self.o#).x = 5;"),
          new Piece(
              "kept object in a text",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#();",
              "v + (\"\" + self.k#).length()"),
          new Piece(
              "kept object given to the JDK",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#();",
              "v + String.valueOf(self.k#).length()"),
          new Piece(
              "kept object in an array",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); static int t#(K# k) { Object[] a = {k}; return"
                  + " Arrays.toString(a).length(); }",
              "v + t#(self.k#)"),
          new Piece(
              "kept object from a getter",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); K# get#() { return k#; }",
              "v + List.of(self.get#()).toString().length()"),
          new Piece(
              "kept object of a constant",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "static final K# K# = new K#();",
              "v + Objects.toString(K#).length()"),
          new Piece(
              "kept object that gives itself away",
              "final class K# { int me() { return String.valueOf(this).length(); } public String"
                  + " toString() { return \"x\".repeat(Control.next() % 5); } }",
              "private final K# k# = new K#();",
              "v + self.k#.me()"),
          new Piece(
              "kept object given away by its superclass",
              "abstract class Up# { int me() { return String.valueOf(this).length(); } } final"
                  + " class K# extends Up# { public String toString() { return"
                  + " \"x\".repeat(Control.next() % 5); } }",
              "private final K# k# = new K#();",
              "v + self.k#.me()"),
          new Piece(
              "kept object given away by an interface",
              "interface I# { default int me() { return String.valueOf(this).length(); } } final"
                  + " class K# implements I# { public String toString() { return"
                  + " \"x\".repeat(Control.next() % 5); } }",
              "private final I# k# = new K#();",
              "v + self.k#.me()"),
          new Piece(
              "kept object in a record",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } } record R#(K# k) {}",
              "private final R# r# = new R#(new K#());",
              "v + self.r#.toString().length()"),
          new Piece(
              "kept object in a box",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } } final class B# { final Object o; B#(Object o) { this.o = o; } int t() {"
                  + " return o.toString().length(); } }",
              "private final K# k# = new K#();",
              "v + new B#(self.k#).t()"),
          new Piece(
              "kept object in a kept box",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } } final class B# { final Object o; B#(Object o) { this.o = o; } int t() {"
                  + " return o.toString().length(); } }",
              "private final B# b# = new B#(new K#());",
              "v + self.b#.t()"),
          new Piece(
              "kept object on one of two paths",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); int t#(float v) { K# t = v > 1 ? k# : null; return"
                  + " String.valueOf(t).length(); }",
              "v + self.t#(v)"),
          new Piece(
              "kept object in a handler",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); int t#() { K# t = k#; try { return"
                  + " Integer.parseInt(\"x\"); } catch (NumberFormatException e) { return"
                  + " String.valueOf(t).length(); } }",
              "v + self.t#()"),
          new Piece(
              "kept object in a lambda",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); int t#() { java.util.function.Supplier<String> s ="
                  + " () -> String.valueOf(k#); return s.get().length(); }",
              "v + self.t#()"),
          new Piece(
              "method of a kept object",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); int t#() { java.util.function.Supplier<String> s ="
                  + " k#::toString; return s.get().length(); }",
              "v + self.t#()"),
          new Piece(
              "kept supplier",
              "final class K# implements java.util.function.Supplier<Float> { public Float get() {"
                  + " return (float) Control.next(); } }",
              "private final K# k# = new K#();",
              "v + Optional.<Float>empty().orElseGet(self.k#)"),
          new Piece(
              "inherited loop over a kept object",
              "final class K# implements Iterable<Float> { public Iterator<Float> iterator() {"
                  + " return List.of((float) Control.next()).iterator(); } }",
              "private final K# k# = new K#(); float t#() { float[] s = {0}; k#.forEach(x -> s[0]"
                  + " += x); return s[0]; }",
              "v + self.t#()"),
          new Piece(
              "kept text of its own kind",
              "final class K# implements CharSequence { public int length() { return Control.next()"
                  + " % 5; } public char charAt(int i) { return 120; } public CharSequence"
                  + " subSequence(int a, int b) { return this; } }",
              "private final K# k# = new K#();",
              "v + new StringBuilder().append((CharSequence) self.k#).length()"),
          new Piece(
              "kept object that compares",
              "final class K# implements Comparable<K#> { public int compareTo(K# o) { return"
                  + " Control.next() % 2 * 2 - 1; } }",
              "private final K# k# = new K#(); private final K# j# = new K#();",
              "v + (Collections.max(Arrays.asList(self.k#, self.j#)) == self.k# ? 1 : 0)"),
          new Piece(
              "kept object that equals",
              "final class K# { public boolean equals(Object o) { return Control.next() % 2 == 0; }"
                  + " public int hashCode() { return 1; } }",
              "private final K# k# = new K#();",
              "v + (Objects.equals(self.k#, \"\") ? 1 : 0)"),
          new Piece(
              "kept object that is found twice",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); private final List<Object> l# = List.of(k#);",
              "v + self.l#.toString().length() + (self.k# == null ? 1 : 0)"),
          new Piece(
              "kept object closed by a block",
              "final class K# implements AutoCloseable { public void close() { Control.next(); } }",
              "private final K# k# = new K#(); float t#() { try (K# k = k#) { return k == null ? 1"
                  + " : 0; } }",
              "v + self.t#()"),
          new Piece(
              "kept object captured",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); int t#() { K# t = k#;"
                  + " java.util.function.Supplier<Object> s = () -> t; return"
                  + " s.get().toString().length(); }",
              "v + self.t#()"),
          new Piece(
              "kept object given to itself",
              "final class K# { int t(Object o) { return o.toString().length(); } public String"
                  + " toString() { return \"x\".repeat(Control.next() % 5); } }",
              "private final K# k# = new K#();",
              "v + self.k#.t(self.k#)"),
          new Piece(
              "kept object made again",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); static int t#() { return String.valueOf(new"
                  + " K#()).length(); }",
              "v + (self.k# == null ? 1 : 0) + t#()"),
          new Piece(
              "kept object given to a method",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } }",
              "private final K# k# = new K#(); int t#(Object o) { return o.toString().length(); }",
              "v + self.t#(self.k#)"),
          new Piece(
              "kept object put into another",
              "final class K# { public String toString() { return \"x\".repeat(Control.next() % 5);"
                  + " } } final class H# { final K# k = new K#(); } final class B# { final Object"
                  + " o; B#(H# h) { o = h.k; } int t() { return o.toString().length(); } }",
              "private final H# h# = new H#();",
              "v + new B#(self.h#).t()"),
          new Piece(
              "text of a new object without one",
              "final class K# { final float x; K#(float x) { this.x = x; } }",
              "",
              "v + String.valueOf(new K#(1)).hashCode() % 7"),
          new Piece("text of a bare object", "", "", "v + (\"\" + new Object()).hashCode() % 7"),
          new Piece(
              "text of a new array",
              "",
              "",
              "v + String.valueOf((Object) new float[1]).hashCode() % 7"),
          new Piece(
              "order of objects without hash codes",
              "final class K# { final float x; K#(float x) { this.x = x; } }",
              "static float t#() { Set<K#> s = new HashSet<>(); s.add(new K#(1)); s.add(new K#(2));"
                  + " return s.iterator().next().x; }",
              "v + t#()"),
          new Piece(
              "keys without hash codes",
              "final class K# { final float x; K#(float x) { this.x = x; } }",
              "static float t#() { Map<K#, Float> m = new HashMap<>(); m.put(new K#(1), 1f);"
                  + " m.put(new K#(2), 2f); return m.values().iterator().next(); }",
              "v + t#()"),
          new Piece(
              "text of an object made here",
              "final class K# { final float x; K#(float x) { this.x = x; } }",
              "",
              "v + (\"\" + new K#(1)).hashCode() % 7"),
          new Piece(
              "builder with an object made here",
              "final class K# { final float x; K#(float x) { this.x = x; } }",
              "",
              "v + new StringBuilder().append(new K#(1)).toString().hashCode() % 7"),
          new Piece(
              "inherited text of an object made here",
              "final class K# { final float x; K#(float x) { this.x = x; } }",
              "",
              "v + new K#(v).toString().hashCode() % 7"),
          new Piece(
              "text of a subclass made here",
              "abstract class Up# {} final class K# extends Up# { final float x; K#(float x) {"
                  + " this.x = x; } }",
              "",
              "v + Objects.toString(new K#(1)).hashCode() % 7"),
          new Piece(
              "array toggled through a getter",
              "",
              "private final int[] c# = {0}; int[] get#() { return c#; }",
              "v + (self.get#()[0] ^= 1)"),
          new Piece(
              "shared array toggled through a getter",
              "",
              "private final float[] c# = Control.ARRAY; float[] get#() { return c#; }",
              "v + (self.get#()[0] = -self.get#()[0])"),
          new Piece(
              "array toggled by a helper",
              "",
              "private final float[] w# = {1};"
                  + " static float t#(float[] a) { a[0] = -a[0]; return a[0]; }",
              "v * t#(self.w#)"),
          new Piece(
              "array toggled in a list of its own",
              "",
              "private final float[] w# = {1};"
                  + " float t#() { List<float[]> l = new ArrayList<>(); l.add(w#);"
                  + " float[] a = l.get(0); a[0] = -a[0]; return a[0]; }",
              "v * self.t#()"),
          new Piece(
              "array toggled in a new object",
              "final class K# { private final float[] w; K#(float[] w) { this.w = w; }"
                  + " float t() { w[0] = -w[0]; return w[0]; } }",
              "private final float[] w# = {1};",
              "v * new K#(self.w#).t()"),
          new Piece(
              "default method of a lambda",
              "interface B# { float go(); } interface I# extends B# { float other();"
                  + " default float go() { return System.nanoTime(); } }",
              "",
              "v + ((B#) (I#) () -> 1f).go()"),
          new Piece(
              "list that a method reference adds to",
              "",
              "private final List<Float> l# = new ArrayList<>(); float t#() {"
                  + " java.util.function.Consumer<Float> c = l#::add; c.accept(1f);"
                  + " return l#.size(); }",
              "v + self.t#()"),
          new Piece(
              "array that a method reference sorts",
              "",
              "private final float[] w# = {2, 1}; float t#() { float x = w#[0];"
                  + " java.util.function.Consumer<float[]> c = Arrays::sort; c.accept(w#);"
                  + " return x; }",
              "v * self.t#()"),
          new Piece(
              "array sorted elsewhere",
              "",
              "private final float[] w# = {2, 1}; float[] get#() { return w#; }"
                  + " float t#() { float x = get#()[0]; Arrays.sort(get#()); return x; }",
              "v * self.t#()"),
          new Piece(
              "array copied into",
              "",
              "private final float[] w# = {2, 1}; float[] get#() { return w#; } float t#() { float"
                  + " x = get#()[0]; System.arraycopy(new float[] {1 - x}, 0, get#(), 0, 1);"
                  + " return x; }",
              "v * self.t#()"),
          new Piece(
              "list rotated elsewhere",
              "",
              "private final List<Float> l# = new ArrayList<>(List.of(1f, 2f));"
                  + " List<Float> get#() { return l#; }"
                  + " float t#() { Collections.reverse(get#()); return get#().get(0); }",
              "v * self.t#()"),
          new Piece(
              "list changed by an alias",
              "",
              "private final List<Float> l# = new ArrayList<>(List.of(1f, 2f));"
                  + " List<Float> get#() { return l#; }"
                  + " float t#() { List<Float> a = get#(); a.add(a.remove(0)); return a.get(0); }",
              "v * self.t#()"),
          new Piece(
              "lambda that toggles a captured array",
              "",
              "private final Part p#; { float[] a = {1}; p# = x -> x * (a[0] = -a[0]); }",
              "self.p#.apply(v)"),
          new Piece(
              "lambda that captures a changing object",
              "",
              "private final Part p#; { Control c = Control.SHARED; p# = x -> x * c.value; }",
              "self.p#.apply(v)"),
          new Piece(
              "lambda of a settable field",
              "",
              "private float f# = 1; private final Part p# = x -> x * f#;"
                  + " public void set#(float x) { f# = x; }",
              "self.p#.apply(v)",
              "self.set#(5);"),
          new Piece(
              "lambda that counts",
              "",
              "private int n#; private final Part p# = x -> x + n#++;",
              "self.p#.apply(v)"),
          new Piece(
              "lambda that draws",
              "",
              "private final Part p# = x -> x + (float) Math.random();",
              "self.p#.apply(v)"),
          new Piece(
              "one of two lambdas",
              "",
              "private final Part q# = x -> x * 2; private final Part p# = x -> x +"
                  + " Control.next();",
              "self.q#.apply(v) + self.p#.apply(v)"),
          new Piece(
              "method of a changing object",
              "",
              "private final Part p# = Control.SHARED::scaled;",
              "self.p#.apply(v)"),
          new Piece(
              "method that draws, as a reference",
              "",
              "private final java.util.function.Supplier<Double> p# = Math::random;",
              "v + (float) (double) self.p#.get()"),
          new Piece(
              "cache of a counter",
              "",
              "private int n#; int lazy#() { if (n# == 0) { n# = Control.next(); } return n#; }",
              "v + self.lazy#()"),
          new Piece(
              "cache of a settable field",
              "",
              "private float c#; public float s# = 2;"
                  + " float lazy#() { if (c# == 0) { c# = s# * 2; } return c#; }",
              "v + self.lazy#()"),
          new Piece(
              "cache that is looked into",
              "",
              "private int n#; int lazy#() { if (n# == 0) { n# = 7; } return n#; }",
              "v + self.n# + self.lazy#()"),
          new Piece(
              "cache of the first argument",
              "",
              "private float c#; float lazy#(float x) { if (c# == 0) { c# = x; } return c#; }",
              "v + self.lazy#(v)"),
          new Piece(
              "cache that returns the old value",
              "",
              "private int n#; int lazy#() { int o = n#; if (n# == 0) { n# = 7; } return o; }",
              "v + self.lazy#()"),
          new Piece(
              "cache with a setter",
              "",
              "private int n#; int lazy#() { if (n# == 0) { n# = 7; } return n#; }"
                  + " public void set#() { n# = 9; }",
              "v + self.lazy#()"),
          new Piece(
              "text of an object, requested by the JDK",
              "class S# { public String toString() {"
                  + " return \"x\".repeat((int) (Math.random() * 5)); } }",
              "private final S# s# = new S#();",
              "v + String.valueOf(self.s#).length()"),
          new Piece(
              "method of a superclass called through an interface",
              "interface O# { float at(float v); }"
                  + " class Up# { public float at(float v) { return v * (float) Math.random(); } }"
                  + " class Down# extends Up# implements O# {}",
              "private final O# o# = new Down#();",
              "self.o#.at(v)"),
          new Piece(
              "override in a subclass",
              "class Up# { float at(float v) { return v; } }"
                  + " class Down# extends Up# { float at(float v) { return v * Control.next(); } }",
              "private final Up# u# = new Down#();",
              "self.u#.at(v)"),
          new Piece(
              "initialiser that reads what changes",
              "final class K# { static final float X = Control.SHARED.value + Control.ARRAY[0]; }",
              "",
              "v * K#.X"),
          new Piece(
              "list over a list of its own kind",
              "final class L# extends AbstractList<Float> {"
                  + " public Float get(int i) { return (float) Control.next(); }"
                  + " public int size() { return 1; } }",
              "private final List<Float> l# = Collections.unmodifiableList(new L#());",
              "v + self.l#.get(0)"),
          new Piece("static", "", "static float s# = 1;", "v * s#", "s# = 5;"),
          new Piece(
              "private static with a setter",
              "",
              "private static float s# = 1; public static void set#(float s) { s# = s; }",
              "v * s#",
              "set#(5);"),
          new Piece("volatile static elsewhere", "", "", "v * Control.mode"),
          new Piece(
              "static elsewhere by accessor",
              "final class G# { private static float s = 1; static float get() { return s; }"
                  + " static class In { void set(float x) { s = x; } } }",
              "",
              "v * G#.get()",
              "new G#.In().set(5);"),
          new Piece(
              "field of a shared object",
              "",
              "private final Control c# = Control.SHARED;",
              "v * self.c#.value"),
          new Piece("static shared object", "", "", "v * Control.SHARED.value"),
          new Piece("public field", "", "public float f# = 1;", "v * self.f#", "self.f# = 5;"),
          new Piece(
              "private field with a setter",
              "",
              "private float f# = 1; public void set#(float x) { f# = x; }",
              "v * self.f#",
              "self.set#(5);"),
          new Piece(
              "private field set by a nest mate",
              "",
              "private float f# = 1;"
                  + " static final class N# { float x; void set(Self s) { s.f# = x; } }",
              "v * self.f#",
              "new N#().set(self);"),
          new Piece(
              "private field set in the constructor of another object",
              "final class K# { private float x = 1; K#() {} K#(K# other) { other.x = 2; }"
                  + " float at() { return x; } }",
              "private final K# k# = new K#();",
              "v * self.k#.at()",
              "new K#(self.k#);"),
          new Piece(
              "private field set by a lambda",
              "",
              "private float f#; final Runnable r#() { return () -> f# = 2; }",
              "v * self.f#",
              "self.r#().run();"),
          new Piece(
              "shared array", "", "private final float[] w# = Control.ARRAY;", "v * self.w#[0]"),
          new Piece("array elsewhere", "", "", "v * Control.ARRAY[0]"),
          new Piece(
              "array with a getter",
              "",
              "private final float[] w# = {1, 2}; public float[] get#() { return w#; }",
              "v * self.w#[0]",
              "self.get#()[0] = 5;"),
          new Piece(
              "array with a changer",
              "",
              "private final float[] w# = {1, 2}; public void set#(float x) { w#[0] = x; }",
              "v * self.w#[0]",
              "self.set#(5);"),
          new Piece(
              "array changed by a local name",
              "",
              "private final float[] w# = {1, 2};"
                  + " public void set#(float x) { float[] a = w#; for (;;) { a[0] = x; break; } }",
              "v * self.w#[0]",
              "self.set#(5);"),
          new Piece(
              "array shown when it is made",
              "final class K# { private final float[] w = new float[2];"
                  + " K#() { float[] a = new float[2]; Control.shown = w; a[0] = 1; }"
                  + " float at() { return w[0]; } }",
              "private final K# k# = new K#();",
              "v * self.k#.at()"),
          new Piece(
              "array shown before it is kept",
              "final class K# { private final float[] w;"
                  + " K#() { float[] a = new float[2]; Control.shown = a; w = a; }"
                  + " float at() { return w[0]; } }",
              "private final K# k# = new K#();",
              "v * self.k#.at()"),
          new Piece(
              "array of a record",
              "record R#(float[] a) {}",
              "private final R# r# = new R#(new float[] {1});",
              "v * self.r#.a()[0]",
              "self.r#.a()[0] = 5;"),
          new Piece(
              "row of a table",
              "",
              "private final float[][] w#; { w# = new float[1][]; w#[0] = Control.ARRAY; }",
              "v * self.w#[0][0]"),
          new Piece(
              "row shown",
              "",
              "private final float[][] w# = {{1}}; public float[] row#() { return w#[0]; }",
              "v * self.w#[0][0]",
              "self.row#()[0] = 5;"),
          new Piece(
              "array in a list",
              "",
              "private final List<float[]> l# = List.of(Control.ARRAY);",
              "v * self.l#.get(0)[0]"),
          new Piece(
              "array in a copied list",
              "",
              "private final List<float[]> l# = new ArrayList<>(Control.ARRAYS);",
              "v * self.l#.get(0)[0]"),
          new Piece(
              "array added to a list",
              "",
              "private final List<float[]> l# = new ArrayList<>();"
                  + " { float[] a = {1}; l#.add(a); Control.shown = a; }",
              "v * self.l#.get(0)[0]"),
          new Piece(
              "shared list",
              "",
              "private final List<Float> l# = Control.LIST;",
              "v + self.l#.size()"),
          new Piece(
              "view of a shared list",
              "",
              "private final List<Float> l# = Collections.unmodifiableList(Control.LIST);",
              "v + self.l#.size()"),
          new Piece(
              "list with an adder",
              "",
              "private final List<Float> l# = new ArrayList<>();"
                  + " public void add#(float x) { l#.add(x); }",
              "v + self.l#.size()",
              "self.add#(5);"),
          new Piece(
              "list shown by its iterator",
              "",
              "private final List<Float> l# = new ArrayList<>(); { l#.add(1f); }"
                  + " public java.util.Iterator<Float> it#() { return l#.iterator(); }",
              "v + self.l#.size()",
              "var i# = self.it#(); i#.next(); i#.remove();"),
          new Piece(
              "entries of a map",
              "",
              "private final Map<String, Float> m# = new HashMap<>(); { m#.put(\"a\", 1f); }"
                  + " public void set#() { for (Map.Entry<String, Float> e : m#.entrySet()) {"
                  + " e.setValue(2f); } }",
              "v + self.m#.get(\"a\")",
              "self.set#();"),
          new Piece(
              "shared map",
              "",
              "private final Map<String, Float> m# = Control.MAP;",
              "v + self.m#.size()"),
          new Piece(
              "object in a list",
              "",
              "private final List<Control> l# = List.of(Control.SHARED);",
              "v * self.l#.get(0).value"),
          new Piece(
              "map in an order of its own",
              "",
              "private final Map<String, Float> m# ="
                  + " new TreeMap<>((a, b) -> Control.mode > 1 ? 1 : a.compareTo(b));"
                  + " { m#.put(\"a\", 2f); }",
              "v + self.m#.getOrDefault(\"a\", 1f)"),
          new Piece(
              "set in an order of its own",
              "",
              "private final Set<String> s# ="
                  + " new TreeSet<>((a, b) -> Control.mode > 1 ? 1 : a.compareTo(b));"
                  + " { s#.add(\"a\"); }",
              "v + (self.s#.contains(\"a\") ? 1 : 0)"),
          new Piece(
              "map that forgets",
              "",
              "private final Map<Float, Float> m# = new WeakHashMap<>();"
                  + " { m#.put(Float.valueOf(300), 1f); }",
              "v + self.m#.size()"),
          new Piece(
              "map over a shared one",
              "",
              "private final Map<String, Object> m# = new"
                  + " javax.script.SimpleBindings(Control.BOUND);",
              "v + self.m#.size()"),
          new Piece(
              "parallel stream",
              "",
              "",
              "v + java.util.stream.StreamSupport.stream(List.of(1f, 2f).spliterator(), true)"
                  + ".reduce(0f, Float::sum)"),
          new Piece(
              "presence of a directory",
              "",
              "",
              "v + String.valueOf(java.nio.file.Path.of(\"mode\").toUri()).length()"),
          new Piece("property", "", "", "v + System.getProperty(\"mode\", \"\").length()"),
          new Piece("number property", "", "", "v + Integer.getInteger(\"mode\", 1)"),
          new Piece("flag property", "", "", "v + (Boolean.getBoolean(\"mode\") ? 1 : 0)"),
          new Piece("environment", "", "", "v + System.getenv().size()"),
          new Piece(
              "file",
              "",
              "static float file#() { try { return"
                  + " Float.parseFloat(java.nio.file.Files.readString(java.nio.file.Path.of(\"mode\")));"
                  + " } catch (java.io.IOException e) { return 0; } }",
              "v + file#()"),
          new Piece(
              "file of the same name",
              "",
              "private final java.nio.file.Path p# = java.nio.file.Path.of(\"mode\");"
                  + " float file#() { try (java.io.InputStream in ="
                  + " java.nio.file.Files.newInputStream(p#)) { return in.read(); }"
                  + " catch (java.io.IOException e) { return 0; } }",
              "v + self.file#()"),
          new Piece(
              "presence of a file", "", "", "v + (new java.io.File(\"mode\").exists() ? 1 : 0)"),
          new Piece(
              "presence of a path",
              "",
              "",
              "v + (java.nio.file.Files.exists(java.nio.file.Path.of(\"mode\")) ? 1 : 0)"),
          new Piece(
              "open file",
              "",
              "static float file#() { try (java.io.FileInputStream in ="
                  + " new java.io.FileInputStream(\"mode\")) { return in.read(); }"
                  + " catch (java.io.IOException e) { return 0; } }",
              "v + file#()"),
          new Piece("nanoseconds", "", "", "v + System.nanoTime() % 7"),
          new Piece("milliseconds", "", "", "v + System.currentTimeMillis() % 7"),
          new Piece("instant", "", "", "v + java.time.Instant.now().getNano() % 7"),
          new Piece("date", "", "", "v + java.time.LocalDate.now().getDayOfMonth()"),
          new Piece("old date", "", "", "v + new java.util.Date().getTime() % 7"),
          new Piece("thread", "", "", "v + Thread.currentThread().getName().length()"),
          new Piece(
              "thread local",
              "",
              "static final ThreadLocal<Float> T# = ThreadLocal.withInitial(() -> 1f);",
              "v * T#.get()"),
          new Piece(
              "counter",
              "",
              "private int n#; float count#() { return n#++; }",
              "v + self.count#()"),
          new Piece(
              "static counter",
              "",
              "private static int n#; static float count#() { return ++n#; }",
              "v + count#()"),
          new Piece(
              "atomic counter",
              "",
              "private final java.util.concurrent.atomic.AtomicInteger n# ="
                  + " new java.util.concurrent.atomic.AtomicInteger();",
              "v + self.n#.incrementAndGet()"),
          new Piece(
              "counter in a constructor",
              "final class K# { private static final int[] N = new int[1]; K#() { N[0]++; }"
                  + " float at() { return N[0]; } }",
              "",
              "v + new K#().at()"),
          new Piece(
              "reference",
              "",
              "static final java.util.concurrent.atomic.AtomicReference<Float> A# ="
                  + " new java.util.concurrent.atomic.AtomicReference<>(1f);",
              "v * A#.get()"),
          new Piece(
              "lambda of captured state",
              "",
              "private final Part p#; { float[] a = Control.ARRAY; p# = x -> x * a[0]; }",
              "self.p#.apply(v)"),
          new Piece("lambda elsewhere", "", "", "Control.PART.apply(v)"),
          new Piece(
              "inherited field",
              "abstract class Up# { protected float x = 1; float up(float v) { return v * x; } }"
                  + " final class Down# extends Up# { public void set(float y) { x = y; } }",
              "private final Up# u# = new Down#();",
              "self.u#.up(v)",
              "((Down#) self.u#).set(5);"),
          new Piece(
              "inherited method of what is made",
              "abstract class Up# implements Part {"
                  + " public float apply(float v) { return v * Control.mode; } }"
                  + " final class Down# extends Up# {}",
              "",
              "((Part) new Down#()).apply(v)"),
          new Piece(
              "default method",
              "interface D# { default float at(float v) { return v * Control.mode; } }"
                  + " final class I# implements D# {}",
              "private final I# i# = new I#();",
              "self.i#.at(v)"),
          new Piece(
              "changing implementation",
              "",
              "static Part p# = new Control.Twice();",
              "p#.apply(v)",
              "p# = v -> v;"),
          new Piece(
              "implementation that can be set",
              "",
              "private Part p# = new Control.Twice(); public void set#(Part p) { p# = p; }",
              "self.p#.apply(v)",
              "self.set#(v -> v);"),
          new Piece(
              "initialiser that reads",
              "final class K# { static final float X = Control.mode; }",
              "",
              "v * K#.X"),
          new Piece(
              "initialiser that counts",
              "final class K# { static { Control.mode++; } static float at() { return 1; } }",
              "",
              "v * K#.at()"),
          new Piece(
              "field of an enum", "enum M# { A; float x = 1; }", "", "v * M#.A.x", "M#.A.x = 5;"),
          new Piece(
              "array of an enum",
              "enum M# { A; final float[] x = {1}; }",
              "",
              "v * M#.values()[0].x[0]",
              "M#.values()[0].x[0] = 5;"),
          new Piece(
              "kept object that it fills",
              "class B# { float x; void up() { x++; } }",
              "private final B# b# = new B#(); float t#() { b#.up(); return b#.x; }",
              "v + self.t#()"),
          new Piece(
              "kept object of a subclass",
              "class B# { float x; void up() { x++; } } final class S# extends B# {}",
              "private final Object b# = new S#(); float t#() { B# n = new B#(); n.up(); B# k ="
                  + " (B#) b#; k.x = k.x + n.x; return k.x; }",
              "v + self.t#()"),
          new Piece(
              "object in a kept list",
              "class B# { float x; void up() { x++; } }",
              "private final List<B#> l# = List.of(new B#()); float t#() { B# b = l#.get(0);"
                  + " b.up(); return b.x; }",
              "v + self.t#()"),
          new Piece(
              "object in a static field",
              "class B# { float x; void up() { x++; } } final class H# { static final B# B = new"
                  + " B#(); static B# get() { return B; } }",
              "static float t#() { B# b = H#.get(); b.x += 1; return b.x; }",
              "v + t#()"),
          new Piece(
              "object that a lambda captures",
              "class B# { float x; void up() { x++; } }",
              "private final Part p#; { B# b = new B#(); p# = v -> { b.up(); return v + b.x; }; }",
              "self.p#.apply(v)"),
          new Piece(
              "object in an array in a record",
              "class B# { float x; void up() { x++; } } record R#(B#[] a) {}",
              "private final R# r# = new R#(new B#[] {new B#()}); float t#() { B# b = r#.a()[0];"
                  + " b.up(); return b.x; }",
              "v + self.t#()"),
          new Piece(
              "enum that it fills",
              "enum M# { A; float x; }",
              "static float t#() { M# m = M#.values()[0]; m.x++; return m.x; }",
              "v + t#()"),
          new Piece(
              "new object over a kept list",
              "final class C# { private final List<Float> l; C#(List<Float> l) { this.l = l; }"
                  + " float add(float v) { l.add(v); return l.size(); } }",
              "private final List<Float> k# = new ArrayList<>(); float t#(float v) { return new"
                  + " C#(k#).add(v); }",
              "v + self.t#(v)"),
          new Piece(
              "new object over a kept array",
              "final class C# { float[] a; }",
              "private final float[] k# = {1}; float t#() { C# c = new C#(); c.a = k#; c.a[0]++;"
                  + " return k#[0]; }",
              "v + self.t#()"),
          new Piece(
              "new object over a list of lists",
              "final class C# { final List<List<Float>> l = new ArrayList<>(); }",
              "private final List<Float> k# = new ArrayList<>(); float t#(float v) { C# c = new"
                  + " C#(); c.l.add(k#); c.l.get(0).add(v); return k#.size(); }",
              "v + self.t#(v)"),
          new Piece(
              "object that registers itself",
              "final class C# { static final List<C#> ALL = new ArrayList<>(); float x; C#() {"
                  + " ALL.add(this); } }",
              "static float t#() { C# c = new C#(); c.x++; return C#.ALL.size(); }",
              "v + t#()"),
          new Piece(
              "static field of a filled class",
              "final class C# { static float sum; float x; void up() { x++; sum += x; } }",
              "static float t#() { C# c = new C#(); c.up(); return C#.sum; }",
              "v + t#()"),
          new Piece("generator", "", "", "v + (float) Math.random()"),
          new Piece("own generator", "", "", "v + new java.util.Random().nextFloat()"),
          new Piece(
              "kept generator",
              "",
              "private final java.util.Random r# = new java.util.Random(1);",
              "v + self.r#.nextFloat()"),
          new Piece("identifier", "", "", "v + java.util.UUID.randomUUID().hashCode()"),
          new Piece(
              "locale",
              "",
              "",
              "v + \"I\".toLowerCase().charAt(0)",
              "Locale.setDefault(Locale.forLanguageTag(\"tr\"));"),
          new Piece(
              "format of the locale",
              "",
              "",
              "v + String.format(\"%.1f\", v).charAt(1)",
              "Locale.setDefault(Locale.forLanguageTag(\"de\"));"),
          new Piece(
              "format of a time",
              "",
              "",
              "v + String.format(Locale.ROOT, \"%1$tH\", 1000L).charAt(1)"),
          new Piece(
              "format of an array that other code fills",
              "",
              "static void fill#(Object[] a) { a[0] = new Object(); } static String t#() { Object[]"
                  + " a = {1}; fill#(a); return String.format(Locale.ROOT, \"%s\", a); }",
              "v + t#().length()"),
          new Piece(
              "format of an object",
              "",
              "static String t#(Object o) { return String.format(Locale.ROOT, \"%s\", o); }",
              "v + t#(new Object()).length()"),
          new Piece("formatted object", "", "", "v + \"%s\".formatted(new Object()).length()"),
          new Piece(
              "format that changes",
              "",
              "static String f# = \"%d\";",
              "v + String.format(Locale.ROOT, f#, 12).length()",
              "f# = \"%x\";"),
          new Piece(
              "scanner of the locale",
              "",
              "",
              "v + (new Scanner(\"1,5\").hasNextFloat() ? 1 : 0)",
              "Locale.setDefault(Locale.forLanguageTag(\"de\"));"),
          new Piece(
              "generator that another method made",
              "",
              "static final java.util.Random R# = new java.util.Random(1);"
                  + " static java.util.Random r#() { return R#; }",
              "v + r#().nextFloat()"),
          new Piece(
              "sometimes unseeded generator",
              "",
              "static float t#(float v) { java.util.Random r = v > 0 ? new java.util.Random(1) :"
                  + " new java.util.Random(); return r.nextFloat(); }",
              "v + t#(v)"),
          new Piece(
              "sorted map that it changes",
              "",
              "private final TreeMap<Float, Float> m# = new TreeMap<>(); float t#(float v) {"
                  + " m#.put(v, v); return m#.size(); }",
              "v + self.t#(v)"),
          new Piece(
              "sorted map that it changes through a view",
              "",
              "private final TreeMap<Float, Float> m# = new TreeMap<>(Map.of(1f, 2f)); float t#() {"
                  + " m#.descendingMap().clear(); return m#.size(); }",
              "v + self.t#()"),
          new Piece(
              "comparator that counts",
              "final class C# implements Comparator<Float> { int n; public int compare(Float a,"
                  + " Float b) { return a.compareTo(b) * (n++ % 2 * 2 - 1); } }",
              "private final C# c# = new C#(); float t#() { TreeSet<Float> s = new TreeSet<>(c#);"
                  + " s.add(1f); s.add(2f); return s.first(); }",
              "v + self.t#()"),
          new Piece(
              "formatter of the locale",
              "",
              "",
              "v + java.time.format.DateTimeFormatter.ofPattern(\"MMM\").getLocale().toString()"
                  + ".length()",
              "Locale.setDefault(Locale.forLanguageTag(\"zh-Hans-CN\"));"),
          new Piece("identity", "", "", "v + System.identityHashCode(new Object()) % 7"),
          new Piece("hash of an object", "", "", "v + new Object().hashCode() % 7"),
          new Piece(
              "reflection",
              "",
              "static float r#() { try { return (Float) Class.forName(\"generated.Control\")"
                  + ".getField(\"mode\").get(null); }"
                  + " catch (ReflectiveOperationException e) { return 0; } }",
              "v * r#()"),
          new Piece(
              "method handle",
              "",
              "static float h#() { try { return (float) java.lang.invoke.MethodHandles.lookup()"
                  + ".findStaticGetter(Control.class, \"mode\", float.class).invokeExact(); }"
                  + " catch (Throwable e) { return 0; } }",
              "v * h#()"),
          new Piece(
              "services", "", "", "v + java.util.ServiceLoader.load(Part.class).stream().count()"),
          new Piece(
              "builder",
              "",
              "private final StringBuilder b# = Control.TEXT;",
              "v + self.b#.length()"),
          new Piece(
              "kept date",
              "",
              "private final java.util.Date d# = new java.util.Date(1);",
              "v + self.d#.getTime()"),
          new Piece("native", "", "static native float n#(float v);", "n#(v)"),
          new Piece(
              "lock",
              "",
              "static float l#(float v) { synchronized (Control.class) { return v; } }",
              "l#(v)"),
          new Piece(
              "output",
              "",
              "static float o#(float v) { System.out.print(\"\"); return v; }",
              "o#(v)"),
          new Piece(
              "iterator",
              "",
              "private final java.util.Iterator<Float> i# = List.of(1f, 2f).iterator();",
              "v + (self.i#.hasNext() ? 1 : 0)"),
          new Piece(
              "list of its own kind",
              "final class L# extends ArrayList<Float> {}",
              "private final List<Float> l# = new L#();",
              "v + self.l#.size()"));

  private static final String SHARED =
      """
      package generated;
      import java.util.*;
      public class Control {
        public static volatile float mode = 1;
        public static final Control SHARED = new Control();
        public static final float[] ARRAY = {1};
        public static final List<float[]> ARRAYS = List.of(ARRAY);
        public static final List<Float> LIST = new ArrayList<>();
        public static final Map<String, Float> MAP = new HashMap<>();
        public static final Map<String, Object> BOUND = new HashMap<>();
        public static final StringBuilder TEXT = new StringBuilder();
        public static final Part PART = x -> x * mode;
        public static float[] shown;
        public float value = 1;
        static int calls;
        public static int next() { return ++calls; }
        public float scaled(float v) { return v * value; }
        public static void change() {
          mode++;
          SHARED.value++;
          ARRAY[0]++;
          LIST.add(1f);
          MAP.put("b" + MAP.size(), 1f);
          BOUND.put("b" + BOUND.size(), 1);
          TEXT.append('x');
          if (shown != null) { shown[0]++; }
        }
        static final class Twice implements Part {
          public float apply(float v) { return 2 * v; }
        }
      }
      """;

  private final Random random;
  private int numbers;

  GeneratedTransforms(long seed) {
    random = new Random(seed);
  }

  /** Compiles {@code count} transforms into a directory; 600 are enough to cover every piece. */
  List<Generated> into(Path directory, int count) throws IOException {
    Map<Generated, String> sources = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      boolean pure = i % 5 < 2;
      List<Piece> pieces = new ArrayList<>();
      for (int n = random.nextInt(3); n > 0; n--) {
        pieces.add(PURE.get(random.nextInt(PURE.size())));
      }
      List<Piece> kind = pure ? PURE : IMPURE;
      pieces.add(random.nextInt(pieces.size() + 1), kind.get(i % kind.size()));
      String name = "T" + i;
      sources.put(
          new Generated(
              "generated." + name, pure, pieces.stream().map(Piece::name).toList().toString()),
          source(name, pieces));
    }
    Path from = Files.createDirectories(directory.resolve("generated"));
    List<Path> files = new ArrayList<>();
    files.add(Files.writeString(from.resolve("Control.java"), SHARED));
    files.add(
        Files.writeString(
            from.resolve("Part.java"),
            "package generated; public interface Part { float apply(float v); }"));
    for (Map.Entry<Generated, String> source : sources.entrySet()) {
      String file = source.getKey().className().replace("generated.", "") + ".java";
      files.add(Files.writeString(from.resolve(file), source.getValue()));
    }
    compile(files, directory);
    return List.copyOf(sources.keySet());
  }

  private static void compile(List<Path> files, Path directory) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of("-d", directory.toString(), "-proc:none", "-nowarn", "--release", "17");
      boolean done =
          compiler
              .getTask(
                  null, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files))
              .call();
      if (!done) {
        throw new IllegalStateException("The generated transforms do not compile.");
      }
    }
  }

  private String source(String name, List<Piece> pieces) {
    StringBuilder beside = new StringBuilder();
    StringBuilder members = new StringBuilder();
    StringBuilder sum = new StringBuilder("0");
    StringBuilder change = new StringBuilder();
    for (Piece piece : pieces) {
      String number = name + "_" + numbers++;
      beside.append(piece.beside().replace("#", number).replace("Self", name)).append('\n');
      members.append(piece.members().replace("#", number).replace("Self", name)).append('\n');
      change.append(piece.change().replace("#", number).replace("Self", name)).append('\n');
      String expression = "(" + piece.expression().replace("#", number) + ")";
      for (int depth = random.nextInt(5); depth > 0; depth--) {
        expression = through(expression, members, name);
      }
      sum.append(" + ").append(expression);
    }
    return "package generated;\nimport java.util.*;\n"
        + beside
        + "public final class "
        + name
        + " implements Part {\n"
        + members
        + "public float apply(float v) { "
        + name
        + " self = this; return "
        + sum
        + "; }\n"
        + "public static void change("
        + name
        + " self) { Control.change();\n"
        + change
        + "}\n}\n";
  }

  /** Adds a helper that evaluates the expression, and returns a call of it. */
  private String through(String expression, StringBuilder members, String name) {
    String helper = "h" + numbers++;
    String self = name + " self";
    String body =
        switch (random.nextInt(4)) {
          case 0 -> "return " + expression + ";";
          case 1 ->
              "float s = 0; for (int i = 0; i < 2; i++) { s += " + expression + "; } return s;";
          case 2 -> "return v > 3 ? " + expression + " : " + expression + " + 1;";
          default -> "Part p = x -> " + expression + " + x; return p.apply(v);";
        };
    switch (random.nextInt(4)) {
      case 0 -> {
        members.append(
            "private float %s(float v) { %s = this; %s }%n".formatted(helper, self, body));
        return "self." + helper + "(v)";
      }
      case 1 -> {
        members.append("static float %s(%s, float v) { %s }%n".formatted(helper, self, body));
        return helper + "(self, v)";
      }
      case 2 -> {
        members.append(
            "private static final class C%s { private final %s; C%s(%s) { this.self = self; }"
                .formatted(helper, self, helper, self));
        members.append(" float go(float v) { %s } }%n".formatted(body));
        return "new C" + helper + "(self).go(v)";
      }
      default -> {
        members.append("record R%s(%s) implements Part {".formatted(helper, self));
        members.append(" public float apply(float v) { %s } }%n".formatted(body));
        return "((Part) new R" + helper + "(self)).apply(v)";
      }
    }
  }
}
