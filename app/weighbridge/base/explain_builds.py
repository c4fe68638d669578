"""What each code about builds of engines says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

BUILDS: Mapping[str, tuple[str, str]] = {
    "build.broken": (
        mark("The environment of {build} has no working Python any more: {path}."),
        mark("Install it again: weighbridge engines install {build}"),
    ),
    "build.busy": (
        mark("{build} is being installed or removed by another process."),
        mark("Wait for it to end."),
    ),
    "build.in_use_now": (
        mark("{build} is running a model (process {pid})."),
        mark("Stop the model first."),
    ),
    "build.install_failed": (
        mark("{build} could not be installed ({reason}). What was in use before still is."),
        mark("All that was said is in {log_file}."),
    ),
    "build.newer_failed": (
        mark("It could not be asked whether there is a newer {build} ({reason})."),
        mark("Try again later, or install it anew: weighbridge engines install {build}"),
    ),
    "build.no_devices": (
        mark("{build} was installed but could not tell what it can compute on ({reason}). It was removed again."),
        mark("What was in use before still is. All that was said is in {log_file}."),
    ),
    "build.no_program": (
        mark("There is no program to run at {path}."),
        mark("Give the path of a llama-server that you may run."),
    ),
    "build.no_token": (
        mark("{build} was installed but wrote no token ({reason}). It was removed again."),
        mark("What was in use before still is. All that was said is in {log_file}."),
    ),
    "build.no_wheels": (
        mark("There are no wheels at {path}."),
        mark("Name a .whl file, or a folder that holds the build's wheel and those that it needs."),
    ),
    "build.not_for_system": (
        mark("There is no {title} build of {engine} for this system ({system})."),
        mark("Choose another one: weighbridge engines ls"),
    ),
    "build.not_here": (
        mark("No build called {build} is here. There are: {known}."),
        mark("To install one: weighbridge engines install BUILD"),
    ),
    "build.not_llama_server": (
        mark("{path} is no llama-server: it takes no --model."),
        mark("Give the path of a llama-server."),
    ),
    "build.not_removable": (
        mark("{build} came with Weighbridge and is not removed alone."),
        mark("Choose another one to be used: weighbridge engines use BUILD"),
    ),
    "build.program_failed": (
        mark("{path} did not say what it can do ({reason})."),
        mark("Start it in a terminal with --help: it must be a llama-server that runs on this machine."),
    ),
    "build.program_no_token": (
        mark("{path} is on the list, but wrote no token ({reason}), so it was not put to use."),
        mark("What was in use before still is. Another build may suit this machine."),
    ),
    "build.sees_no_card": (
        mark("{build} is installed, but sees no card here, so it was not put to use."),
        mark("Look at the card's driver; then: weighbridge engines use {build}"),
    ),
    "build.slow": (
        mark("{engine} wrote no token, and showed no sign of going on for {limit_s} seconds."),
        mark("Try again when the machine has less to do."),
    ),
    "build.too_old": (
        mark("{path} ({version}) is too old: it does not know {lacking}."),
        mark("Get a newer build of llama.cpp."),
    ),
    "build.unknown": (
        mark("There is no build called {build} to install. To be had here: {known}."),
        mark("See them with: weighbridge engines ls"),
    ),
    "build.unwritable": (
        mark("{path} cannot be written to ({reason})."),
        mark("Check the free space and who may write there."),
    ),
}
