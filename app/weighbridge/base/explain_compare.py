"""What stands in the way of a comparison, or makes it doubtful, for a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

COMPARE: Mapping[str, tuple[str, str]] = {
    "compare.busy": (
        mark("Other programs had much of the processor meanwhile: {columns}."),
        mark("End them and compare again: these are the speeds of a busy machine."),
    ),
    "compare.cache_untold": (
        mark("Not told is whether a part of the prompt was known from before: {columns}."),
        mark("Their first token and reading speed may be those of a prompt that was read before."),
    ),
    "compare.cached": (
        mark("Much of the prompt was known from before at every turn: {columns}."),
        mark("Their first token and reading speed do not compare with those of a prompt that is read anew."),
    ),
    "compare.changed": (
        mark("The engine uses other values than were asked for: {columns}."),
        "",
    ),
    "compare.context_differs": (
        mark("The context lengths differ ({values})."),
        mark("Name one with --context: it changes the memory, and may change the speed."),
    ),
    "compare.counted": (
        mark("Not all figures are told by the engine: {columns}. What “~” marks was counted and timed here."),
        mark("A prompt is read faster than that: the wait for the first token was taken for its reading."),
    ),
    "compare.elsewhere": (
        mark("These answered from servers that are not Weighbridge's: {columns}."),
        mark(
            "Their speeds are those of the server, of all who use it, and of the way there; their memory is not known."
        ),
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
        mark("Another model was at work meanwhile: {columns}."),
        mark("Compare again when nothing else runs."),
    ),
    "compare.not_repeated": (
        mark("The same prompt did not have the same answer at each turn: {columns}."),
        mark("Their sums depend on the order of work; the answers shown are those of the first turn."),
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
        mark("Too few tokens were written at a turn to tell how fast: {columns}."),
        mark("Choose a prompt with a longer answer."),
    ),
    "compare.swapped": (
        mark("A part of these lay on the disk as swap: {columns}."),
        mark("The machine had too little memory: these are the speeds of the disk."),
    ),
    "compare.threads_differ": (
        mark("Not all computed with as many threads ({values})."),
        mark("Name their number with --threads."),
    ),
    "compare.unsteady": (
        mark("The writing speed moved between turns: {columns}."),
        mark("Compare again with more turns, or with --interleave."),
    ),
    "compare.workload": (
        mark("There is no workload called {workload}."),
        mark("There are: {known}."),
    ),
}
