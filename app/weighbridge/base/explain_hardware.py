"""What each code about hardware says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

HARDWARE: Mapping[str, tuple[str, str]] = {
    "apple.no_metal": (
        mark("There is no graphics part here that Metal could compute on ({name}), so models run on the processor."),
        mark("In a virtual machine that is how it is; run Weighbridge on the Mac itself."),
    ),
    "card.carved_out": (
        mark("{own_gib} GiB of memory are set aside for {name}, so the system sees {system_gib} GiB."),
        mark("Models on the graphics part use what is set aside. The firmware's setup changes it (UMA frame buffer)."),
    ),
    "card.memory_unknown": (
        mark("{name} does not tell how much memory it has."),
        mark("It is shown as unknown; an engine that can use the card may know."),
    ),
    "card.no_driver": (
        mark("{name} is here, but no driver through which it could compute has it (now: {driver})."),
        mark("Install its maker's driver, or a newer kernel, then restart the machine."),
    ),
    "card.no_permission": (
        mark("This user may not use {name} ({path})."),
        mark("Add the user to the group that owns that device (render or video), then sign in again."),
    ),
    "card.not_passed_on": (
        mark("{name} is in this machine, but its device {path} is not passed on to this container."),
        mark("Start the container with that device (for Docker: --device /dev/dri)."),
    ),
    "hardware.no_card": (
        mark("No graphics card was found, so models run on the processor."),
        mark("If this machine has one, install its driver."),
    ),
    "hardware.not_kept": (
        mark("The measured bandwidth, {gbs} GB/s, could not be kept in {path} ({reason})."),
        mark("Check the free space and who may write there, then measure again."),
    ),
    "hardware.not_measured": (
        mark("There is too little free memory to measure its bandwidth: buffers would fit into the processor's cache."),
        mark("Close some programs, then measure again."),
    ),
    "hardware.probe_failed": (
        mark("Looking at the {what} failed ({reason})."),
        mark("The rest of the machine is shown; look again later."),
    ),
    "hardware.probe_slow": (
        mark("Looking at the {what} took longer than {limit_s} seconds."),
        mark("The rest of the machine is shown; look again later."),
    ),
    "hardware.wsl_memory": (
        mark("This is Linux inside Windows (WSL), which lends it {total_gib} GiB of memory."),
        mark("For more, raise memory= in the file .wslconfig of your Windows user, then run: wsl --shutdown"),
    ),
    "machine.card_memory": (
        mark("{name} is sold with {sizes} GiB of memory."),
        mark("Say which, behind its name: RTX 4060 Ti 16GB."),
    ),
    "machine.card_near": (
        mark("No card in the table is called {name}. Near it are: {near}."),
        mark("Give one of these names; or describe the card in a file (--machine) with its memory_gib."),
    ),
    "machine.card_unknown": (
        mark("No card in the table is called {name}, or anything near it."),
        mark("Describe the card in a file (--machine) with its memory_gib and bandwidth_gbs."),
    ),
    "machine.chip_memory": (
        mark("{name} has one memory for processor and graphics, and how much is not told."),
        mark("Say it behind the name ({name} 32GB), or as the machine's memory."),
    ),
    "machine.key": (
        mark("In the machine's description, {place} means nothing."),
        mark("Known there are: {known}."),
    ),
    "machine.kind": (
        mark("In the machine's description, {place} is not a JSON {kind}."),
        mark("Correct it there, then read the file again."),
    ),
    "machine.missing": (
        mark("In the machine's description, {place} is missing."),
        mark("Add it there, then read the file again."),
    ),
    "machine.one_chip": (
        mark("{name} is a whole machine in one chip: there is one of it, and no card beside it."),
        mark("Describe it alone."),
    ),
    "machine.unreadable": (
        mark("The machine's description is no JSON object ({reason})."),
        mark('Write it as one object, with values such as "ram_gib": 64.'),
    ),
    "machine.value": (
        mark("In the machine's description, {place} is {value}; it may be {low} to {high}."),
        mark("Correct it, then try again."),
    ),
    "nvidia.card_lost": (
        mark("NVIDIA card {index} does not answer ({reason})."),
        mark("Restart the machine; if it comes back, check the card's power and seat."),
    ),
    "nvidia.driver_mismatch": (
        mark("The NVIDIA driver was updated, and the running kernel still has the old one ({reason})."),
        mark("Restart the machine; nothing needs to be installed."),
    ),
    "nvidia.driver_not_loaded": (
        mark("The NVIDIA driver is installed but not loaded ({reason})."),
        mark("Restart the machine; if that does not help, install the driver anew."),
    ),
    "nvidia.hangs": (
        mark("The NVIDIA driver did not answer within {limit_s} seconds."),
        mark("Its cards are not used. Restart the machine."),
    ),
    "nvidia.library_missing": (
        mark("No NVIDIA driver was found, so models run on the processor."),
        mark("If this machine has an NVIDIA card, install its driver."),
    ),
    "nvidia.mig_empty": (
        mark("{name} is set to be divided (MIG), but no part of it has been made, so it cannot be used."),
        mark("Make an instance (nvidia-smi mig -cgi), or turn the mode off (nvidia-smi -mig 0)."),
    ),
    "nvidia.no_answer": (
        mark("The card does not tell its {what} ({reason})."),
        mark("It is shown as unknown."),
    ),
    "nvidia.no_card": (
        mark("The NVIDIA driver {driver} runs, but sees no card."),
        mark("Check that the card is plugged in, and passed on to this container or virtual machine."),
    ),
    "nvidia.no_driver": (
        mark("There is an NVIDIA card at {slot}, but NVIDIA's driver is not installed (driver now: {driver})."),
        mark("Install NVIDIA's driver, then restart the machine."),
    ),
    "nvidia.no_permission": (
        mark("This user may not ask the NVIDIA driver ({reason})."),
        mark("Give the user access to the card's devices (/dev/nvidia*)."),
    ),
    "nvidia.no_start": (
        mark("The NVIDIA driver could not be asked ({reason})."),
        mark("Its cards are not used. Restart the machine; if that does not help, install the driver anew."),
    ),
    "nvidia.probe_failed": (
        mark("Looking for NVIDIA cards failed ({reason})."),
        mark("The rest of the machine is shown; look again later."),
    ),
}
