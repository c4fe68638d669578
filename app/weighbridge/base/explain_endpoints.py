"""What went wrong with a server that someone else runs, for a person, as in `explain`. Keep it alphabetical."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

ENDPOINTS: Mapping[str, tuple[str, str]] = {
    "endpoint.address": (
        mark("{address} is no address of a server ({reason})."),
        mark("Give one like http://127.0.0.1:11434 or https://api.example.com/v1, without a user's name in it."),
    ),
    "endpoint.answer": (
        mark("{endpoint} answered with HTTP {status}. {message}"),
        mark("Check the address: {address}"),
    ),
    "endpoint.base_path": (
        mark("{address} has no list of models; at {found} of the same server there is one."),
        mark("Change its address to one with {found} at its end."),
    ),
    "endpoint.broken": (
        mark("The connection to {endpoint} broke ({reason})."),
        mark("Try again; where it stays so, look at the server's own log."),
    ),
    "endpoint.certificate": (
        mark("The certificate of {endpoint} is not one that this computer trusts ({reason})."),
        mark("Check the address. An authority of your own is named by SSL_CERT_FILE."),
    ),
    "endpoint.credit": (
        mark("{endpoint} wants to be paid first. {message}"),
        mark("Look at your account there."),
    ),
    "endpoint.cut": (
        mark("{message} broke off its answer before the end."),
        mark("What had come is kept. Ask again; where it stays so, look at the server's own log."),
    ),
    "endpoint.denied": (
        mark("{endpoint} does not allow this (HTTP {status}). {message}"),
        mark("Check what your key may do there."),
    ),
    "endpoint.field": (
        mark("{endpoint} refuses {field} of the request. {message}"),
        mark("Leave {field} as the model has it by itself, or ask another model."),
    ),
    "endpoint.key": (
        mark("{endpoint} does not accept the key. {message}"),
        mark("Give a new one: under Engines, or by: weighbridge endpoints key NAME"),
    ),
    "endpoint.key_form": (
        mark("That cannot be a key: a key is one line of letters, digits and signs, without spaces."),
        mark("Copy it again, from where it was made."),
    ),
    "endpoint.known": (
        mark("{address} is here already, as {endpoint}."),
        "",
    ),
    "endpoint.limit": (
        mark("{endpoint} takes no more requests just now (HTTP 429). {message}"),
        mark("Try again later; it does not say when."),
    ),
    "endpoint.load_options": (
        mark("How {model} is loaded is for {endpoint} to say, not for Weighbridge."),
        mark("Leave out the options about loading."),
    ),
    "endpoint.name": (
        mark("No name server knows the host of {address} ({reason})."),
        mark("Check the address, and the connection to the network."),
    ),
    "endpoint.needs_key": (
        mark("{endpoint} wants a key."),
        mark("Give it one: under Engines, or by: weighbridge endpoints key NAME"),
    ),
    "endpoint.no_list": (
        mark("{address} answered with something else than a list of models."),
        mark("Check the address and its end, such as /v1."),
    ),
    "endpoint.no_model": (
        mark("{endpoint} does not know this model, or nothing at {address}. {message}"),
        mark("Ask it for its models again: weighbridge endpoints test NAME"),
    ),
    "endpoint.no_route": (
        mark("{address} has no list of models (HTTP {status}), and neither has another usual place of that server."),
        mark("Check the address and its end, such as /v1."),
    ),
    "endpoint.no_way": (
        mark("There is no way to {address} from here ({reason})."),
        mark("Check the connection to the network."),
    ),
    "endpoint.not_ours": (
        mark("{model} is no file: {endpoint} serves it."),
        mark("To take all that it serves off the list: weighbridge endpoints rm {id}"),
    ),
    "endpoint.not_weighed": (
        mark("{model} takes no memory of this computer: {endpoint} serves it."),
        "",
    ),
    "endpoint.offline": (
        mark("Weighbridge is set to stay offline, and what is asked of {endpoint} leaves this computer."),
        mark("Allow it in the settings, or ask a model that runs here."),
    ),
    "endpoint.packed": (
        mark("{endpoint} packs its answers ({packed}), though it was asked not to."),
        mark("Turn that off in the proxy that stands before it."),
    ),
    "endpoint.page": (
        mark("{address} answered with a web page, not with a list of models."),
        mark("Check the address and its end, such as /v1; or sign in to the network you are in."),
    ),
    "endpoint.picture": (
        mark("{endpoint} refuses the message: this model may not take pictures. {message}"),
        mark("Send it without the picture, or to a model that takes pictures."),
    ),
    "endpoint.plain_key": (
        mark("{address} is spoken to without encryption: everybody on the way could read the key."),
        mark("Use https, or say that you agree: --key-in-the-open"),
    ),
    "endpoint.preset": (
        mark("There is no preset called {name}."),
        mark("There are: {known}"),
    ),
    "endpoint.proxy": (
        mark("The proxy on the way to {endpoint} does not let it through ({reason})."),
        mark("Check HTTPS_PROXY and NO_PROXY; only proxies at http and https addresses are used."),
    ),
    "endpoint.redirect": (
        mark("{endpoint} leads on to {location}, which is not followed: your key is for its own address."),
        mark("If that is the right one, use it as the address."),
    ),
    "endpoint.refused": (
        mark("Nothing listens at {address}."),
        mark("Start the server, or check the number of its port."),
    ),
    "endpoint.request": (
        mark("{endpoint} refuses the request. {message}"),
        mark("Change what is asked, or ask another model."),
    ),
    "endpoint.self": (
        mark("{address} is the port of this very Weighbridge: its models are in the list already."),
        mark("Give the address of another server."),
    ),
    "endpoint.server": (
        mark("{endpoint} has a fault of its own (HTTP {status}). {message}"),
        mark("Try again later, or look at the server's own log."),
    ),
    "endpoint.timeout": (
        mark("{address} does not answer in time."),
        mark("Check that the server runs, and that nothing on the way keeps it from being reached."),
    ),
    "endpoint.tls": (
        mark("No encrypted connection to {address} comes about ({reason})."),
        mark("A server without encryption has an address that begins with http://"),
    ),
    "endpoint.unknown": (
        mark("There is no endpoint called {name}."),
        mark("There are: {known}"),
    ),
    "endpoint.wait": (
        mark("{endpoint} takes no more requests just now. {message}"),
        mark("Try again in {seconds} s."),
    ),
}
