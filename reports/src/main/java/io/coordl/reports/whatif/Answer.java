package io.coordl.reports.whatif;

import io.coordl.reports.differential.Missing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one question.
 *
 * @param question its stable name, for programs
 * @param title the question in a few words
 * @param sentence the answer, or what is missing for one
 * @param figure the number that the sentence is about; absent if something is missing
 * @param plot what the number was read from; absent if something is missing
 * @param arguments of the agent to try, as {@code key=value}; empty if none would help
 * @param assumptions that the figure rests on
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
