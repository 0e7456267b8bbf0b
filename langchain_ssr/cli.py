"""The commands of `langchain-ssr`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from langchain_ssr.bench.command import bench
from langchain_ssr.models import DEMO

OUT = Console()

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="LangChain chat model for reasoning models on vLLM.",
    pretty_exceptions_enable=False,
)
models = typer.Typer(no_args_is_help=True, help="Models that need no hub.")
app.add_typer(models, name="models")


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is installed, what is wrong, and the command that mends it."""
    from langchain_ssr.doctor import examine

    report = examine()
    if as_json:
        print(json.dumps(report, indent=2))
    else:
        _show_report(report)
    raise typer.Exit(0 if report["ok"] else 1)


@app.command()
def demo(
    model: Annotated[str, typer.Option(help="Model to ask.")] = "demo",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures here.")
    ] = None,
    html_file: Annotated[
        Path | None,
        typer.Option("--html", help="Also show here where answers came from."),
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Longest output.")] = 2000,
) -> None:
    """Answer prompts with a plain engine and then with self-speculation."""
    from langchain_ssr.demo.show import run, write_html

    figures = run(OUT, model, max_tokens, details=html_file is not None)
    if html_file:
        write_html(html_file, figures)
    if json_file:
        json_file.write_text(json.dumps(figures, indent=2), encoding="utf-8")


@app.command()
def chat(
    model: Annotated[str, typer.Option(help="Model to talk to.")] = "demo",
    system: Annotated[
        str | None, typer.Option(help="What the model is told first.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Default: the model's own.", min=0)
    ] = None,
    thinking_budget: Annotated[
        int | None,
        typer.Option(help="Most reasoning tokens; turns thinking on.", min=1),
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Longest output.", min=1)] = 2000,
) -> None:
    """Talk to a model, and see it think, draft and answer."""
    import contextlib

    from langchain_ssr.chat.conversation import Conversation
    from langchain_ssr.chat_model import ChatSSR

    with contextlib.suppress(ImportError):  # where it is, lines can be edited
        import readline  # noqa: F401

    settings: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
    if thinking_budget is not None:
        settings |= {"thinking_budget": thinking_budget, "enable_thinking": True}
    with ChatSSR(model=model, speculation_stats="detailed", **settings) as llm:
        llm.warmup()
        OUT.print("/help says what can be done here; Ctrl-D ends.", style="dim")
        Conversation(OUT, llm, system).run(input)


@app.command("bench-lite")
def bench_lite(
    num: Annotated[int, typer.Option(help="Prompts with long answers.", min=1)] = 50,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures here.")
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(help="Fail below this mean of tokens per answer step."),
    ] = None,
    model: Annotated[str, typer.Option(help="Model to ask.")] = DEMO,
) -> None:
    """Count the steps that SSR saves on held-out prompts of the demo model.

    Fails if an answer is not the plain engine's, if a short one took more engine steps,
    or if no step was saved.
    """
    from langchain_ssr.demo.measure import measure, problems

    figures = measure(
        num, model=model, report=lambda line: OUT.print(line, style="dim")
    )
    if json_file:
        json_file.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    totals = figures["totals"]
    for name, value in totals.items():
        OUT.print(
            f"{name}: {value:.2f}" if isinstance(value, float) else f"{name}: {value}"
        )
    found = problems(totals, at_least)
    for problem in found:
        OUT.print(problem, style="bold red", markup=False)
    raise typer.Exit(1 if found else 0)


app.command()(bench)


@app.command()
def advise(
    file: Annotated[Path, typer.Argument(help="JSON lines: your own logs.")],
    tokenizer: Annotated[
        str | None,
        typer.Option("--model", help="Whose tokens to count; else pieces of words."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write the figures here.")
    ] = None,
) -> None:
    """Say from logs what SSR could save; needs no engine and no GPU."""
    from langchain_ssr.bench.advise import Pieces, advise
    from langchain_ssr.bench.logs import read
    from langchain_ssr.chat_model import ChatSSR

    logged, others = read(file)
    of_model = ChatSSR(model=tokenizer).get_token_ids if tokenizer else None
    advice = advise(logged, of_model or Pieces())
    if json_file:
        json_file.write_text(json.dumps(advice.to_dict(), indent=2), encoding="utf-8")
    OUT.print(
        f"{advice.requests} answers ({others} lines without), "
        f"{advice.with_reasoning} with reasoning: {advice.reasoning_tokens} reasoning "
        f"and {advice.answer_tokens} answer tokens ({advice.answer_share:.0%})"
    )
    OUT.print(
        "Without any draft, proposals from prompt, reasoning and answer save "
        f"{advice.replayed_saved:.0%} of the decode steps."
    )
    OUT.print(
        f"SSR can save you at most {advice.most_saved:.0%} of them by drafts of the "
        "answer. What drafts bring while the model thinks, no log can tell."
    )


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    options_metavar="MODEL [any flag of vllm serve]",
)
def serve(
    context: typer.Context,
    ssr_defaults: Annotated[
        str | None,
        typer.Option(help="Settings for clients that name none, as a JSON object."),
    ] = None,
    ssr_limits: Annotated[
        str | None,
        typer.Option(help="The most that clients may have, as a JSON object."),
    ] = None,
    print_command: Annotated[
        bool,
        typer.Option("--print-command", help="Print the plain `vllm serve` line."),
    ] = False,
) -> None:
    """Serve a model by vLLM's OpenAI server, with self-speculation.

    `vllm serve --help=all` lists vLLM's own flags.
    """
    from langchain_ssr import serve as server
    from langchain_ssr.operator_settings import OperatorSettings

    if not context.args or context.args[0].startswith("-"):
        typer.echo("Name a model first: langchain-ssr serve MODEL [flags]", err=True)
        raise typer.Exit(2)
    model, *flags = context.args
    operator = OperatorSettings.from_json(ssr_defaults, ssr_limits)
    if print_command:
        print(server.plain_command(model, flags, operator))
    else:
        server.serve(model, flags, operator)


@models.command("get")
def get(
    name: Annotated[str, typer.Argument(help="Only smollm2 so far.")],
) -> None:
    """Prepare a model in the cache folder."""
    from langchain_ssr.models import SMOLLM2
    from langchain_ssr.smollm2 import prepare

    if name != SMOLLM2:
        typer.echo(f"There is no model {name!r} to get; known: {SMOLLM2}", err=True)
        raise typer.Exit(2)
    prepare(lambda line: typer.echo(line, err=True))


def _show_report(report: dict[str, Any]) -> None:
    table = Table("package", "version", box=None)
    table.add_row("python", report["python"])
    for name, version in report["versions"].items():
        if version:
            table.add_row(name, version)
    OUT.print(table)
    OUT.print(f"device: {report['device'] or 'none'}")
    gib = report["memory_bytes"] / (1 << 30)
    OUT.print(f"memory: {gib:.1f} GiB")
    if report["kv_cache_bytes"]:
        gib = report["kv_cache_bytes"] / (1 << 30)
        OUT.print(f"KV cache by default: {gib:.1f} GiB")
    for kind, style in (("problems", "bold red"), ("notes", "yellow")):
        for entry in report[kind]:
            OUT.print(
                f"{kind[:-1]}: {entry['text']}",
                style=style,
                highlight=False,
                markup=False,
            )
            if entry["remedy"]:
                OUT.print(f"  remedy: {entry['remedy']}", highlight=False, markup=False)
    verdict = "ready" if report["ok"] else "not ready"
    OUT.print(verdict, style="bold green" if report["ok"] else "bold red")
