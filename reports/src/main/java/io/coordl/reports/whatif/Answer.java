package io.coordl.reports.whatif;

import io.coordl.reports.differential.Missing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one question.
 *
 * @param question stable name of the question, for programs
 * @param title the question in a few words
 * @param sentence the answer, or what an answer would need
 * @param figure the figure in the sentence; absent if something is missing
 * @param plot the curves that give the figure; absent if something is missing
 * @param arguments agent arguments to try, as {@code key=value}; empty if none would help
 * @param assumptions assumptions behind the figure
 * @param missing what was not measured, and how to get it
 */
public record Answer(
    String question,
    String title,
    String sentence,
    @Nullable Figure figure,
    @Nullable Plot plot,
    List<String> arguments,
    List<String> assumptions,
    List<Missing> missing) {}
