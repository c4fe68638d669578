"""What the error codes about what a request says of its answer say: see `explain`."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.base.words import mark

REQUESTS: Mapping[str, tuple[str, str]] = {
    "embedding.dimensions": (
        mark("{field} is {value}; this model's embeddings have {length} numbers."),
        mark("Leave it out."),
    ),
    "embedding.encoding": (
        mark("{field} is {value}; it can be float or base64."),
        "",
    ),
    "embedding.input": (
        mark("{field} is neither a text nor a list of texts or of tokens, {limit} at most."),
        mark("Send at least one text that is not empty."),
    ),
    "message.image": (
        mark("{field} is no picture that can be read here."),
        mark("Send the picture itself, as data:image/png;base64 or jpeg: nothing is fetched from an address."),
    ),
    "message.image_pixels": (
        mark("{field} is a picture of {megapixels} megapixels; {limit} are the most."),
        mark("Send a smaller one: a model looks at far fewer."),
    ),
    "message.image_unread": (
        mark("A picture of the request is damaged, or of a kind that the engine cannot read."),
        mark("Send it as a PNG or a JPEG picture."),
    ),
    "message.no_projector": (
        mark("{field} is a picture; the model {model} is loaded without a projector, by which it could see."),
        mark("Choose its projector in the Library, or leave the picture out."),
    ),
    "model.not_for_chat": (
        mark("{model} is loaded for another task ({task}), not to chat."),
        mark("Load it as a chat model, or ask another one."),
    ),
    "model.not_for_embedding": (
        mark("{model} is loaded for another task ({task}), not for embeddings."),
        mark("Load it for embeddings, or ask an embedding model."),
    ),
    "model.not_for_rerank": (
        mark("{model} is loaded for another task ({task}), not to rank documents."),
        mark("Load it to rerank, or ask a reranker."),
    ),
    "picture.engine": (
        mark("{engine} cannot show pictures to a model."),
        mark("Ask without the picture, or choose another engine with --engine: llama_server can."),
    ),
    "picture.kind": (
        mark("{path} is no picture in PNG or JPEG."),
        mark("Save it as one of these."),
    ),
    "picture.no_projector": (
        mark("{model} sees pictures only with a projector, and none is chosen."),
        mark("Name one with --set projector=FILE, or choose it in the Library."),
    ),
    "picture.not_sent": (
        mark("{model} would be loaded without a projector, and would not see the picture: nothing was sent."),
        mark("Take the picture away, or load the model with its projector."),
    ),
    "picture.not_taken": (
        mark("{model} takes no pictures, as {endpoint} says: nothing was sent."),
        mark("Take the picture away, or ask a model that takes pictures."),
    ),
    "picture.pixels": (
        mark("{path} has {megapixels} megapixels; {limit} are the most."),
        mark("Make it smaller: a model looks at far fewer."),
    ),
    "picture.projector_beside": (
        mark("{model} sees pictures only with a projector, and none is chosen. One lies beside it."),
        mark("Add this, or choose it in the Library: --set projector={path}"),
    ),
    "picture.too_large": (
        mark("The pictures are larger than {limit} together."),
        mark("Make {path} smaller: a model looks at far fewer pixels than most pictures have."),
    ),
    "picture.too_many": (
        mark("A message has {limit} pictures at most."),
        mark("Send the others with the next message."),
    ),
    "picture.unreadable": (
        mark("{path} cannot be read: {reason}"),
        "",
    ),
    "request.adapters": (
        mark("{field} is not a list of adapters, each with its place as id, from 0 on, and its strength as scale."),
        "",
    ),
    "request.bias": (
        mark("{field} does not give tokens, by number, a bias from -{limit} to {limit}."),
        "",
    ),
    "request.capability": (
        mark("{engine} cannot do what {field} asks for."),
        mark("Leave it out, or load the model with another engine."),
    ),
    "request.choice": (
        mark("{field} is {value}, which is not known."),
        mark("It is one of: {known}."),
    ),
    "request.missing": (
        mark("{field} is missing."),
        "",
    ),
    "request.no_adapter": (
        mark("{field} names adapter {place}, but {count} are loaded, counted from 0."),
        "",
    ),
    "request.not_texts": (
        mark("{field} is not a list of texts."),
        "",
    ),
    "request.number": (
        mark("{field} is {value}; it goes from {low} to {high}."),
        "",
    ),
    "request.schema": (
        mark("The answer could not be held to {field}: {reason}."),
        mark("Leave that part of the schema out, or check the answer yourself."),
    ),
    "request.stop": (
        mark("{field} is neither a text nor a list of {limit} texts of {length} letters at most."),
        "",
    ),
    "request.together": (
        mark("{field} does not go together with {other} as it is."),
        "",
    ),
    "rerank.documents": (
        mark("{field} is not a list of texts, 1 to {limit}."),
        "",
    ),
}
