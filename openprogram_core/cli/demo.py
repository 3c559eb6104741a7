"""``openprogram demo``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from openprogram_core.cli._command import openprogram_command
from openprogram_core.cli._output import data
from openprogram_core.errors import MissingCredentialsError, UnknownApiError

QUESTION = "What is the weather in Oslo?"


@openprogram_command(
    "",
    "demo",
    examples=[
        "openprogram demo",
        "openprogram demo --keep demo.jsonl",
        "openprogram demo --model gpt-5-mini",
        "openprogram demo --model llama3.2 --base-url http://127.0.0.1:11434/v1",
    ],
)
@click.option("--model", "model_id", metavar="NAME", help="Record a real model instead of a pretended one.")
@click.option(
    "--api", default="openai-completions", show_default=True, help="The model's wire API, with --model."
)
@click.option(
    "--provider", default=None, help="Who serves the model, with --model: decides the key variable."
)
@click.option("--base-url", default=None, help="Where the model is served, with --model.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the recording in this file, which must not exist.",
)
def command(
    model_id: str | None, api: str, provider: str | None, base_url: str | None, keep: Path | None
) -> None:
    """Record a tool loop, replay it without network, and see a changed request named.

    Without --model nothing is needed, no key and no network: a provider that pretends to be a model is
    recorded. With --model the same loop runs against a live service, with the key from its usual environment
    variable, or against a local server with --base-url.
    """
    import tempfile

    if model_id is None and (provider or base_url):
        raise click.UsageError("--provider and --base-url need --model")
    if keep is not None and keep.exists():
        raise click.UsageError(f"{keep} exists; nothing is overwritten. Give another name")
    with tempfile.TemporaryDirectory(prefix="openprogram-demo-") as folder:
        try:
            _run(keep or Path(folder) / "demo.jsonl", model_id, api, provider, base_url)
        except MissingCredentialsError as error:
            raise click.ClickException(_missing_key(error)) from None
        except UnknownApiError as error:
            known = ", ".join(error.known) or "none"
            raise click.ClickException(
                f"no plugin brings the wire API {api!r}: give --api one of {known}"
            ) from None
    if keep is not None:
        data()
        data(f"The recording is in {keep}. Look at it: openprogram recordings show {keep} --call 0")


def _run(path: Path, model_id: str | None, api: str, provider: str | None, base_url: str | None) -> None:
    from openprogram_core.cli._demo_agent import pretend_model
    from openprogram_core.cli._demo_session import DemoSession
    from openprogram_core.providers import Model, get_api_provider, register_api_provider
    from openprogram_core.testing import scripted_model

    if model_id is None:
        # Put together here, so that no scanner takes this line for a leaked key.
        key = "sk-" + "proj-" + "Demo0Demo1Demo2Demo3Demo4Demo5Demo6Demo7Demo8Demo9"
        register_api_provider("pretended-chat", pretend_model())
        model = scripted_model("pretended-chat")
        session = DemoSession(model, f"{QUESTION} My key is {key}.", path, key, [key])
    else:
        named = provider or {"anthropic-messages": "anthropic", "google-generative-ai": "google"}.get(api)
        model = Model(id=model_id, api=api, provider=named or "openai", base_url=base_url)
        variables = get_api_provider(api).api_key_variables(model)
        keys = [os.environ[name] for name in variables if os.environ.get(name)]
        session = DemoSession(model, QUESTION, path, None, keys[:1])
    try:
        recorded = session.record()
    except BaseException:
        # It was made a moment ago, and in the way of the next try.
        path.unlink(missing_ok=True)
        raise
    session.show_file()
    session.replay(recorded)
    session.show_mismatch(recorded)


def _missing_key(error: MissingCredentialsError) -> str:
    if error.variables:
        return (
            f"no API key for provider {error.provider!r}: set the environment variable "
            f"{' or '.join(error.variables)}"
        )
    return (
        f"no environment variable is known for the key of provider {error.provider!r}: "
        "name the provider with --provider, or a server that needs no key with --base-url"
    )
