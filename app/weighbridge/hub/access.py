"""What the user has set about the Hub: its address, the token, whether to stay offline, when to fetch by Xet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from weighbridge.base.settings import Settings
from weighbridge.hub.addresses import Origin, endpoint_of
from weighbridge.hub.token import Token

ENDPOINT = "https://huggingface.co"
_TRUE = {"1", "on", "yes", "true"}


@dataclass(frozen=True)
class Access:
    """The four, asked anew for each request, so that a change acts at once."""

    endpoint: Callable[[], str]
    token: Callable[[], Token | None]
    offline: Callable[[], bool]
    xet: Callable[[], str] = lambda: "large"

    def origin(self) -> Origin:
        """The Hub's origin. Raises Refused("hub.address")."""
        return endpoint_of(self.endpoint())

    def asker(self) -> tuple[str, Token | None, bool]:
        """What decides what is told: which Hub, to whom, and whether it may be asked at all."""
        return self.endpoint(), self.token(), self.offline()

    def without_token(self) -> Access:
        """The same, as somebody whom the Hub does not know."""
        return replace(self, token=lambda: None)


def access_of(
    settings: Callable[[], Settings], token: Callable[[], Token | None], environment: Mapping[str, str]
) -> Access:
    """By the settings in force, and the environment where they say nothing."""
    return Access(
        endpoint=lambda: endpoint(settings(), environment),
        token=token,
        offline=lambda: offline(settings(), environment),
        xet=lambda: settings().xet,
    )


def endpoint(settings: Settings, environment: Mapping[str, str]) -> str:
    """The Hub's address: as set, else HF_ENDPOINT, else the Hub's own."""
    return (settings.hub_endpoint or environment.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")


def offline(settings: Settings, environment: Mapping[str, str]) -> bool:
    """Whether nothing is asked of the network: as set, or as HF_HUB_OFFLINE says for all programs of the user."""
    return settings.offline or environment.get("HF_HUB_OFFLINE", "").lower() in _TRUE
