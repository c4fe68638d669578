"""What each code about the Hub says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

HUB: Mapping[str, tuple[str, str]] = {
    "hub.address": (
        mark("An address was not asked, to be safe: {host} ({reason})."),
        mark("Only https is used, and nothing in a private network; the Hub's own address is in Settings."),
    ),
    "hub.bad_entry": (
        mark("{host} lists {name} with a size or a hash that no file can have."),
        mark("Nothing of that repository is taken, to be safe. Take the model from another one, or try again later."),
    ),
    "hub.bad_hash": (
        mark("The Hub gave {hash} for the hash of {name}, which is none."),
        mark(
            "Without a true hash a file cannot be verified, so it is not fetched. Check the Hub's address in Settings."
        ),
    ),
    "hub.bad_name": (
        mark("The Hub has no such name: {name}."),
        mark('A repository is named "owner/name".'),
    ),
    "hub.certificate": (
        mark("{host} could not prove who it is ({reason})."),
        mark("Check this machine's clock, and whether a proxy or the sign-in page of a network is in between."),
    ),
    "hub.changed": (
        mark("{name} in {repo_id} is not the file any more that this download began with."),
        mark("Try again: what is there now is fetched instead."),
    ),
    "hub.corrupt": (
        mark("{name} came with wrong bytes twice: its hash is not the one that the Hub tells. It was thrown away."),
        mark("Try again later. If it stays so, a proxy changes files, or this machine's memory or disk is at fault."),
    ),
    "hub.cut_short": (
        mark("{host} ended the connection before all of {name} had come."),
        mark("It is tried again from the last byte."),
    ),
    "hub.denied": (
        mark("The Hub does not let you fetch {repo_id} ({reason})."),
        mark("Check at {page} what your account and its token may do."),
    ),
    "hub.disabled": (
        mark("The Hub has closed {repo_id}."),
        mark("Look for another copy of the model."),
    ),
    "hub.expired": (
        mark("The address of the file has expired ({reason})."),
        mark("A fresh one is asked for at the next try."),
    ),
    "hub.gated": (
        mark("The licence of {repo_id} has to be accepted first."),
        mark("Accept it at {page} with the account of your token, then try again."),
    ),
    "hub.gated_sign_in": (
        mark("{repo_id} is for those who are signed in and have accepted its licence."),
        mark("Accept it at {page}, then sign in: on the Network page, or with weighbridge login."),
    ),
    "hub.gated_waiting": (
        mark("The owners of {repo_id} have not let your account in."),
        mark("See at {page} how your request stands."),
    ),
    "hub.kind_refused": (
        mark("{name} in {repo_id} is of a kind that is not fetched: it may hold a program."),
        mark("Look for the model as GGUF or safetensors."),
    ),
    "hub.led_away": (
        mark("{host} led on to {to}, which was not asked: only files may lie elsewhere."),
        mark("Check the Hub's address in Settings, or HF_ENDPOINT."),
    ),
    "hub.no_file": (
        mark("{repo_id} has no file {path}."),
        mark("Look at its list of files: it may have been renamed or removed."),
    ),
    "hub.no_file_there": (
        mark("{repo_id} has no model file {file}. There is: {there}."),
        mark("Name one of these, or leave the file out."),
    ),
    "hub.no_job": (
        mark("That download is not in the list any more."),
        "",
    ),
    "hub.no_projector": (
        mark("{repo_id} has no file by which {name} could see pictures."),
        mark("Fetch it without that file."),
    ),
    "hub.no_quant": (
        mark("{repo_id} has no {quant}. There is: {there}."),
        mark("Name one of these."),
    ),
    "hub.no_revision": (
        mark("{repo_id} has no branch, tag or commit {revision}."),
        mark("Look at its list of branches."),
    ),
    "hub.nonsense": (
        mark("{host} gave an answer that makes no sense."),
        mark("Check the Hub's address in Settings, or HF_ENDPOINT; else try again later."),
    ),
    "hub.nothing_to_fetch": (
        mark("There is no model in {repo_id} that an engine here runs."),
        mark("Look at its other branches, or for the same model as GGUF."),
    ),
    "hub.offline": (
        mark("Weighbridge is set to stay offline."),
        mark('Turn off "Stay offline" in Settings, or HF_HUB_OFFLINE in the environment.'),
    ),
    "hub.other_branches": (
        mark("The weights of {repo_id} are on its other branches: {there}."),
        mark("Name one of them with --revision."),
    ),
    "hub.other_owner": (
        mark("Another Weighbridge fetches the downloads of this data folder."),
        mark("Pause or cancel it there."),
    ),
    "hub.portal": (
        mark("Instead of the Hub, a web page answered for {host} ({reason})."),
        mark("Sign in to this network in a browser; else check the proxy and the Hub's address in Settings."),
    ),
    "hub.private": (
        mark("For you there is no {repo_id} on the Hub: it is private, was renamed, or is gone."),
        mark("Check the name. For a private one, sign in on the Network page, or with weighbridge login."),
    ),
    "hub.proxy": (
        mark("The proxy did not let a request to {host} pass ({reason})."),
        mark("Check the system's proxy and what it wants to know (HTTPS_PROXY)."),
    ),
    "hub.rate_limit": (
        mark("The Hub asks for a pause of {seconds} s."),
        mark("Ask again after that; downloads go on by themselves. Those who are signed in may ask more often."),
    ),
    "hub.reference": (
        mark("{text} does not name a model on the Hub."),
        mark("Write owner/name, owner/name:Q4_K_M, or paste the address of its page."),
    ),
    "hub.server": (
        mark("{host} gave an answer that is of no use ({reason})."),
        mark("Try again later; that is likely to be mended there."),
    ),
    "hub.several": (
        mark("There are several in {repo_id}: {there}."),
        mark("Name one of them, behind a colon."),
    ),
    "hub.stalled": (
        mark("Nothing came from {host} for some seconds."),
        mark("It is tried again from the last byte. If that goes on, check the network connection."),
    ),
    "hub.stopped": (
        mark("{name} was paused or cancelled in another Weighbridge."),
        mark("Let it go on there."),
    ),
    "hub.token": (
        mark("{host} does not take your token: it is wrong, or has expired."),
        mark("Make a new one at https://huggingface.co/settings/tokens and sign in with it, or go on without a token."),
    ),
    "hub.token_form": (
        mark("That cannot be a token: it has blanks or other characters that none has, or is empty."),
        mark("Copy it again from https://huggingface.co/settings/tokens."),
    ),
    "hub.too_many_files": (
        mark("{repo_id} has more models in it than are looked into at a time ({limit})."),
        mark("Of the others their size is told; each is looked into as it is chosen."),
    ),
    "hub.unasked": (
        mark("A library wanted to reach {host} on its own account, and was not let."),
        mark("Please report this."),
    ),
    "hub.unreachable": (
        mark("The Hub could not be reached ({reason})."),
        mark("Check the network connection and HF_ENDPOINT."),
    ),
}
