"""What stands in the way of a comparison, or makes it doubtful, for a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

COMPARE: Mapping[str, tuple[str, str]] = {
    "compare.busy": (
        mark("Other programs had up to {percent} % of the processor while {column} answered."),
        mark("End them and compare again: its speeds are those of a busy machine."),
    ),
    "compare.cache_untold": (
        mark("{column} does not tell whether it knew a part of the prompt from before."),
        mark("Its first token and its reading speed may be those of a prompt that was read before."),
    ),
    "compare.cached": (
        mark("{column} knew much of the prompt from before at every turn."),
        mark("Its first token and its reading speed do not compare with those of a prompt that is read anew."),
    ),
    "compare.changed": (
        mark("{column} does not use what was asked for ({settings})."),
        "",
    ),
    "compare.context_differs": (
        mark("The context lengths differ ({values})."),
        mark("Name one with --context: it changes the memory, and may change the speed."),
    ),
    "compare.counted": (
        mark("{column} does not tell all figures itself: what “~” marks was counted and timed here."),
        mark("A prompt is read faster than that: the wait for the first token was taken for its reading."),
    ),
    "compare.elsewhere": (
        mark("{column} answered from {endpoint}."),
        mark("Its speeds are those of that server, of all who use it, and of the way there; its memory is not known."),
    ),
    "compare.engine": (
        mark("There is no engine called {engine}."),
        mark("There are: {known}."),
    ),
    "compare.no_prompt": (
        mark("There is nothing to ask: the prompt is empty."),
        mark("Give a prompt, or the name of a workload."),
    ),
    "compare.no_room_for_all": (
        mark("Not all of them fit into memory at once, so they did not take turns."),
        mark("Each was loaded alone: what the machine did meanwhile may favour one."),
    ),
    "compare.not_alone": (
        mark("Another model was at work while {column} answered."),
        mark("Compare again when nothing else runs."),
    ),
    "compare.not_repeated": (
        mark("{column} did not give the same answer to the same prompt at each turn."),
        mark("Its sums depend on the order of work; the texts below are those of the first turn."),
    ),
    "compare.other_models": (
        mark("These are not the same model: they differ in the number of their parameters."),
        mark("Their speeds say nothing of their engines, and nothing of how good their answers are."),
    ),
    "compare.prompt_differs": (
        mark("The prompt does not have the same number of tokens everywhere ({values})."),
        mark("The chat templates or the tokenizers differ, and the answers may for that reason alone."),
    ),
    "compare.report_folder": (
        mark("The report cannot be written: there is no folder {path}."),
        mark("Make it first, or name another file."),
    ),
    "compare.report_kind": (
        mark("{name} is no name of a report."),
        mark("Let it end in .md or .json."),
    ),
    "compare.short": (
        mark("{column} wrote {tokens} tokens at a turn, too few to tell how fast it writes."),
        mark("Choose a prompt with a longer answer."),
    ),
    "compare.swapped": (
        mark("{swapped} of {column} lay on the disk as swap."),
        mark("The machine had too little memory for it: its speeds are those of the disk."),
    ),
    "compare.threads_differ": (
        mark("Not all computed with as many threads ({values})."),
        mark("Name their number with --threads."),
    ),
    "compare.unsteady": (
        mark("The writing speed of {column} moved by {percent} % between turns."),
        mark("Compare again with more turns, or with --interleave."),
    ),
    "compare.workload": (
        mark("There is no workload called {workload}."),
        mark("There are: {known}."),
    ),
}
