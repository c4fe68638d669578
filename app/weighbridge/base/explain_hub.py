"""What each code about the Hub says to a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

HUB: Mapping[str, tuple[str, str]] = {
    "hub.address": (
        mark("An address was not asked, to be safe: {host} ({reason})."),
        mark("Only https is used, and nothing in a private network; the Hub's own address is in Settings."),
    ),
    "hub.bad_name": (
        mark("The Hub has no such name: {name}."),
        mark('A repository is named "owner/name".'),
    ),
    "hub.certificate": (
        mark("{host} could not prove who it is ({reason})."),
        mark("Check this machine's clock, and whether a proxy or the sign-in page of a network is in between."),
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
        mark("Accept it at {page}, then sign in here: weighbridge login."),
    ),
    "hub.gated_waiting": (
        mark("The owners of {repo_id} have not let your account in."),
        mark("See at {page} how your request stands."),
    ),
    "hub.no_file": (
        mark("{repo_id} has no file {path}."),
        mark("Look at its list of files: it may have been renamed or removed."),
    ),
    "hub.no_revision": (
        mark("{repo_id} has no branch, tag or commit {revision}."),
        mark("Look at its list of branches."),
    ),
    "hub.offline": (
        mark("Weighbridge is set to stay offline."),
        mark('Turn off "Stay offline" in Settings.'),
    ),
    "hub.portal": (
        mark("Instead of the Hub, a web page answered for {host} ({reason})."),
        mark("Sign in to this network in a browser; else check the proxy and the Hub's address in Settings."),
    ),
    "hub.private": (
        mark("For you there is no {repo_id} on the Hub: it is private, was renamed, or is gone."),
        mark("Check the name. For a private one, sign in with a token that may read it: weighbridge login."),
    ),
    "hub.proxy": (
        mark("The proxy did not let a request to {host} pass ({reason})."),
        mark("Check the system's proxy and what it wants to know (HTTPS_PROXY)."),
    ),
    "hub.rate_limit": (
        mark("The Hub asks for a pause of {seconds} s."),
        mark("It goes on by itself after that; those who are signed in may ask more often."),
    ),
    "hub.server": (
        mark("{host} gave an answer that is of no use ({reason})."),
        mark("Try again later; that is likely to be mended there."),
    ),
    "hub.stalled": (
        mark("Nothing came from {host} for some seconds."),
        mark("It is tried again from the last byte. If that goes on, check the network connection."),
    ),
    "hub.token": (
        mark("{host} does not take your token: it is wrong, or has expired."),
        mark("Make a new one at https://huggingface.co/settings/tokens and sign in with it, or go on without a token."),
    ),
    "hub.token_form": (
        mark("That cannot be a token: it has blanks or other characters that none has, or is empty."),
        mark("Copy it again from https://huggingface.co/settings/tokens."),
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
