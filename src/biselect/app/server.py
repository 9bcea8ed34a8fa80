"""The workbench's server: what each address shows or does. It holds no table; the session's file holds what counts."""

from __future__ import annotations

import re
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import parse_qsl, quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from biselect.app.folder import DEMO, bring_demo, changed_at, named_table, tables_in, take_in
from biselect.app.guard import ENTER, ONCE, Codes, Entrance, Guard, PromptProtocol, TooLargeError, page, too_large
from biselect.app.jobs import EXPORT, LAST, ROLES
from biselect.app.worker import BusyError, Job, Worker
from biselect.core.files import private_files, temporary_folder
from biselect.errors import BiselectError, InputError
from biselect.options import Columns, Reviewing, flags_of
from biselect.pages.over_time import found_curve, learnt, queue_sum
from biselect.sessions.exports import USUAL, summarise, summarise_table
from biselect.sessions.store import FINE, GivenAnswer, SessionFile, StaleAnswerError, is_begun
from biselect.tables import NO_SPLIT
from biselect.weights.directed import usual_columns

ADDRESS = "127.0.0.1"
MOST_BYTES = 2 << 30
LINK = 60.0  # seconds that a link to a file waits to be followed
PATIENCE = 600.0  # seconds for the next row, for which the tables may have to be opened first
KEPT = 20  # inspections
MOST_FIELDS = 5_000
MAKES_SENSE = re.compile(r"normal|reference|usual", re.IGNORECASE)  # in the name of a file to compare with
WINDOW = re.compile(r"[0-9a-f-]{36}")
PAGES = ("table", "working", "job", "review", "beside", "new", "exported")  # each shown by the method of its name
DEEDS = (  # each done by the method of its name, and asked for by a form
    *("demo", "look", "link", "choose", "stop"),
    *("answer", "undo", "next", "open", "back", "turn", "export"),
)
LOOKS = {"/table": "inspect", "/new": "drift"}  # which job finds out what a page shows
SANDBOX = "sandbox allow-scripts allow-downloads; frame-ancestors 'none'"  # a report is a page of its own

HELP = {name: flag.help for cls in (Columns, Reviewing) for name, (_, flag) in flags_of(cls).items()}
KEEP = [one for one in flags_of(Columns)["duplicates"][1].choices if one != Columns().duplicates]


class Signed(TypedDict):
    """Who answers, and when, as they were typed."""

    who: str
    when: str


class Bench:
    """A folder, the process that does its jobs, and what was recognised in its tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.worker = Worker(self.folder)
        self.links = Codes(LINK)
        self._inspected: dict[str, tuple[int, Any]] = {}
        self._drift: dict[str, tuple[int, Any]] = {}
        self._lock = threading.Lock()

    def file(self) -> SessionFile | None:
        """The session, where one was begun."""
        return SessionFile(self.folder) if is_begun(self.folder) else None

    def session(self) -> SessionFile:
        """The session, or an error."""
        if (found := self.file()) is None:
            raise InputError("no review was begun here yet; choose a table first")
        return found

    def known(self, kept: dict[str, tuple[int, Any]], table: str, job: str) -> Any:
        """What a job found out about a table as it is now; None where that is not known."""
        changed = changed_at(self.folder, table)
        done = self.worker.job
        with self._lock:
            if done is not None and done.name == job and done.result is not None and done.given.get("table") == table:
                kept[table] = (done.changed, done.result)
                while len(kept) > KEPT:
                    del kept[next(iter(kept))]
            when, found = kept.get(table, (None, None))
        return found if when == changed else None

    def look(self, form: dict[str, str]) -> Response:
        """Find out what the page about a table, or about a new export, needs to know."""
        table, then = named_table(self.folder, form.get("table", "")), form.get("then", "")
        if then not in LOOKS:
            raise InputError(f"a table is looked at for one of {', '.join(LOOKS)}")
        changed = changed_at(self.folder, table)
        self.worker.start(LOOKS[then], {"table": table}, then=f"{then}?name={quote(table)}", changed=changed)
        return RedirectResponse("/working", status_code=303)

    def start(self, request: Request) -> Response:
        """What is in the folder."""
        file, job = self.file(), self.worker.job
        return HTMLResponse(
            page(
                "start",
                "bench.title",
                at_work=job is not None and not (job.finished or job.short),
                folder=self.folder.name,
                tables=[name for name in tables_in(self.folder) if not name.startswith(USUAL)],
                begun=file is not None,
                summary=None if file is None else _brief(file),
            )
        )

    async def bring(self, request: Request) -> Response:
        """Take a file in."""
        name = await take_in(self.folder, request.query_params.get("name", ""), request.stream())
        return JSONResponse({"name": name})

    def demo(self, form: dict[str, str]) -> Response:
        """Take the demo's tables in."""
        bring_demo(self.folder)
        return RedirectResponse(f"/table?name={quote(next(iter(DEMO)))}", status_code=303)

    def table(self, request: Request) -> Response:
        """What was recognised in a table, and what it is to be compared with."""
        name = named_table(self.folder, request.query_params.get("name", ""))
        found = self.known(self._inspected, name, "inspect")
        if found is None:
            return HTMLResponse(page("look", "bench.working", name=name, then="/table"))
        others = [other for other in tables_in(self.folder) if other != name]
        used = sum(column["given"] in ("number", "category") for column in found["columns"])
        times = any(column["given"] == "time" for column in found["columns"])
        likely = next((other for other in others if MAKES_SENSE.search(other)), None)
        return HTMLResponse(
            page(
                "table",
                "bench.table",
                name=name,
                found=found,
                help=HELP,
                keep=KEEP,
                others=others,
                reference=likely or "",
                times=times,
                last=LAST if self.file() is not None else None,
                m=usual_columns(max(1, used)),
                most_m=max(1, used),
            )
        )

    def choose(self, form: dict[str, str]) -> Response:
        """Begin with a table."""
        m = _number(form, "m", 100_000)
        given = {
            "setup": self.setup(form),
            "m": None if str(m) == form.get("usual-m") else m,  # the library knows the columns that vary
            **_signed(form),
        }
        back = f"/table?name={quote(form['table'])}"
        self._drift.clear()  # against another reference from now on
        self.worker.start("choose", given, then="/review", back=back)
        return RedirectResponse("/working", status_code=303)

    def setup(self, form: dict[str, str]) -> dict[str, Any]:
        """A table, what it is compared with, and the roles of its columns, all of them known here."""
        name = named_table(self.folder, form.get("table", ""))
        found = self.known(self._inspected, name, "inspect")
        if found is None:
            raise InputError("the table has changed; open it again")
        roles, parts = {}, {}
        for at, column in enumerate(found["columns"]):
            role = form.get(f"role-{at}", column["given"])
            if role not in ROLES:
                raise InputError(f"a column is one of {', '.join(ROLES)}")
            if role != column["given"]:
                roles[column["name"]] = role
            if wanted := [part for part in column["parts"] if f"part-{at}-{part}" in form]:
                parts[column["name"]] = wanted
        untils = {"earlier": form.get("until", "60%")[:100], "itself": NO_SPLIT}
        until = untils.get(form.get("against", ""), "")
        reference = "" if until else self.reference(form)
        kept = form.get("duplicates", "")
        if kept not in ("", *KEEP):
            raise InputError("of rows that repeat an id the first or the last is kept, or all")
        return {**{"table": name, "reference": reference, "until": until}, "roles": roles, "parts": parts, "kept": kept}

    def reference(self, form: dict[str, str]) -> str:
        """A reference as a job takes it: the name of a file, or the last export."""
        if form.get("against") == "last":
            return LAST
        if form.get("against") != "file":
            raise InputError(
                "choose what the rows are compared with: each other, a file of normal rows, or earlier rows"
            )
        return named_table(self.folder, form.get("which", ""))

    async def working(self, request: Request) -> Response:
        """What the worker is at."""
        job = self.worker.job
        if job is None or (job.finished and job.error is None):
            return RedirectResponse("/" if job is None else job.then, status_code=303)
        return HTMLResponse(page("working", "bench.working", job=_told(job)))

    async def job(self, request: Request) -> Response:
        """The same for a script; it waits for no thread, which others may hold while the session's file is locked."""
        job = self.worker.job
        return JSONResponse({"finished": True, "then": "/", "error": None} if job is None else _told(job))

    def stop(self, form: dict[str, str]) -> Response:
        """End what is under way."""
        self.worker.stop()
        job = self.worker.job
        return RedirectResponse("/" if job is None else job.back, status_code=303)

    def review(self, request: Request) -> Response:
        """One row after the other."""
        file = self.file()
        if file is None:
            return RedirectResponse("/", status_code=303)
        choice = file.present()
        record = file.choices()[choice]
        name = Path(record["pool"]).name if record["pool"] else ""
        told = {"sizes": record["sizes"], "learnt": learnt(record["taught"]), "choice": choice}
        return HTMLResponse(page("review", "bench.review", name=name, beside=_beside(file, choice), **told))

    def beside(self, request: Request) -> Response:
        """What stands beside the row, for windows that were opened before it changed."""
        file = self.session()
        choice, last = file.present(), str(file.last_answer())
        known = request.query_params.get("choice") == str(choice) and request.query_params.get("last") == last
        told = {} if known else {"beside": _beside(file, choice)}
        return JSONResponse({"choice": choice, "last": int(last), **told})

    def next(self, form: dict[str, str]) -> Response:
        """The row to look at now: the next one, something else, or one by its position."""
        self.session()
        if not WINDOW.fullmatch(form.get("window", "")):
            raise InputError("a window names itself by a UUID")
        row = _number(form, "row", 1 << 40, least=0) if form.get("row") else None
        given = {"who": form["window"], "unlike": form.get("unlike") == "yes", "row": row}
        told = self.worker.result("next", given, PATIENCE)
        moved = told.pop("moved")
        return JSONResponse({**_row(**told), "moved": moved})

    def open(self, form: dict[str, str]) -> Response:
        """A row that was answered, as it was shown."""
        file = self.session()
        choice, row = file.present(), _number(form, "row", 1 << 40, least=0)
        shown, standing = file.shown(choice).get(row), file.standing(choice)
        if shown is None:
            raise InputError("this row was never shown")
        return JSONResponse(_row(dict(shown.record), choice, standing.last, standing.latest().get(row)))

    def answer(self, form: dict[str, str]) -> Response:
        """Take one answer."""
        file = self.session()
        row, choice, after = (_number(form, name, 1 << 40, least=0) for name in ("row", "choice", "after"))
        given = {row: (form.get("verdict", ""), form.get("note"))}
        try:
            last = file.add_answers(choice, given, after=after, **_signed(form))
        except StaleAnswerError as error:
            told = {"error": str(error), "after": error.answer.number, "beside": _beside(file, choice)}
            return JSONResponse(told, status_code=409)
        return JSONResponse({"last": last, "beside": _beside(file, choice)})

    def undo(self, form: dict[str, str]) -> Response:
        """Take the last answer back."""
        file = self.session()
        choice = _number(form, "choice", 1 << 40, least=0)
        back = file.undo(choice, **_signed(form))
        told = {"back": None if back is None else asdict(back), "last": file.last_answer()}
        return JSONResponse({**told, "beside": _beside(file, choice)})

    def back(self, form: dict[str, str]) -> Response:
        """Turn to tables that were reviewed before."""
        file = self.session()
        file.take_up(_number(form, "choice", len(file.choices()) - 1, least=0))
        self._drift.clear()
        return RedirectResponse("/review", status_code=303)

    def new(self, request: Request) -> Response:
        """How far a new export has moved, and what it is to be compared with."""
        name = named_table(self.folder, request.query_params.get("name", ""))
        file = self.session()
        drift = self.known(self._drift, name, "drift")
        if drift is None:
            return HTMLResponse(page("look", "bench.working", name=name, then="/new"))
        choice = file.present()
        record = file.choices()[choice]
        others = [other for other in tables_in(self.folder) if other != name]
        split = record["reference_until"]
        told = {"drift": drift, "others": others, "split": split, "alone": split == NO_SPLIT}
        told["left_out"] = sum(one.verdict != FINE for one in file.standing(choice).latest().values())
        return HTMLResponse(page("new", "bench.new", name=name, in_use=record["reference"] or "", **told))

    def turn(self, form: dict[str, str]) -> Response:
        """Go on with a new export."""
        self.session()
        name = named_table(self.folder, form.get("table", ""))
        reference = "" if form.get("against") == "same" else self.reference(form)
        given = {"table": name, "reference": reference, **_signed(form)}
        self._drift.clear()
        self.worker.start("turn", given, then="/review", back=f"/new?name={quote(name)}")
        return RedirectResponse("/working", status_code=303)

    def export(self, form: dict[str, str]) -> Response:
        """Write everything."""
        self.session()
        self.worker.start("export", {}, then="/exported", back="/review")
        return RedirectResponse("/working", status_code=303)

    def exported(self, request: Request) -> Response:
        """What was written."""
        return HTMLResponse(
            page("exported", "bench.exported", files=self._exported(), folder=f"{self.folder.name}/{EXPORT}")
        )

    def link(self, form: dict[str, str]) -> Response:
        """An address at which one of the exported files can be fetched once: a download brings no token."""
        name = form.get("name", "")
        if name not in self._exported():
            raise InputError("there is no such file")
        return JSONResponse({"address": f"{ONCE}{self.links.new(name)}/{quote(Path(name).name)}"})

    def written(self, request: Request) -> Response:
        """One of the exported files."""
        name = self.links.take(request.path_params["code"])
        if name is None or name not in self._exported():
            raise HTTPException(404, "This link was used or is too old; open the file again from the workbench.")
        place = self.folder / EXPORT / name
        if name.endswith(".html"):
            return FileResponse(place, media_type="text/html", headers={"Content-Security-Policy": SANDBOX})
        return FileResponse(place, media_type="application/octet-stream", filename=place.name)

    def _exported(self) -> list[str]:
        home = self.folder / EXPORT
        found = [path for path in home.rglob("*") if path.is_file() and not path.is_symlink()] if home.is_dir() else []
        return sorted(path.relative_to(home).as_posix() for path in found if not path.name.startswith("."))


def application(folder: Path, *, token: str, port: int, most_bytes: int = MOST_BYTES) -> tuple[Guard, Bench, Entrance]:
    """The guarded application, what stands behind it, and the way in."""
    bench, entrance = Bench(folder), Entrance(token, f"http://{ADDRESS}:{port}")
    routes = [
        Route("/", bench.start, methods=["GET"]),
        Route(ONCE + "{code}/{name}", bench.written, methods=["GET"]),
        *(Route(f"/{name}", getattr(bench, name), methods=["GET"]) for name in PAGES),
        *(_post(f"/{name}", getattr(bench, name)) for name in DEEDS),
        _post(ENTER, entrance.enter),
        Route("/files", bench.bring, methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {
        HTTPException: _http_problem,
        BusyError: partial(_problem, 409),
        BiselectError: partial(_problem, 400),
        OSError: partial(_problem, 400),
        ClientDisconnect: partial(_problem, 400),
        TooLargeError: _too_large,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    guard = Guard(app, token=token, shell=entrance.shell(), port=port, most_bytes=most_bytes)
    return guard, bench, entrance


def _post(path: str, handler: Callable[[dict[str, str]], Response]) -> Route:
    """What a form asks for, done beside the loop that serves: a wait for the session's file holds nobody else up."""

    async def deed(request: Request) -> Response:
        return await run_in_threadpool(handler, await _form(request))

    return Route(path, deed, methods=["POST"])


async def _http_problem(request: Request, error: HTTPException) -> Response:
    return HTMLResponse(page("problem", "bench.problem", why=error.detail, busy=False), status_code=error.status_code)


async def _problem(code: int, request: Request, error: Exception) -> Response:
    why = str(error)
    if isinstance(error, OSError):  # whose own words may name folders of this machine
        why = f"the file could not be read or written: {error.strerror or type(error).__name__}"
    if "text/html" in request.headers.get("accept", ""):
        busy = isinstance(error, BusyError)
        return HTMLResponse(page("problem", "bench.problem", why=why, busy=busy), status_code=code)
    return JSONResponse({"error": why}, status_code=code)


async def _too_large(request: Request, error: TooLargeError) -> Response:
    return too_large(error.args[0])


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form."""
    try:
        fields = parse_qsl(
            (await request.body()).decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise InputError("the form cannot be read") from None
    return dict(fields)


def _number(form: dict[str, str], name: str, most: int, *, least: int = 1) -> int:
    text = form.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 16 and least <= int(text) <= most):
        raise InputError(f"{name} must be a whole number from {least} to {most:,}")
    return int(text)


def _signed(form: dict[str, str]) -> Signed:
    return {"who": form.get("who", "")[:200], "when": form.get("when", "")[:200]}


def _told(job: Job) -> dict[str, Any]:
    names = ("number", "name", "step", "done", "finished", "error", "then", "back")
    return {name: getattr(job, name) for name in names}


def _row(row: dict[str, Any] | None, choice: int, last: int, answer: GivenAnswer | None = None) -> dict[str, Any]:
    """A row as the page takes it; `row` is None if all were answered."""
    told = None if answer is None else asdict(answer)
    content = page("row", "bench.review", row=row, answer=told, sum="" if row is None else queue_sum(row))
    number = None if row is None else row["row"]
    return {"html": content, "row": number, "name": row and row["name"], "choice": choice, "last": last}


def _beside(file: SessionFile, choice: int) -> str:
    """What stands beside the row: what was found, whether to go on, and everything that was answered."""
    table = summarise_table(file, choice, whole=False)
    return page("beside", "bench.review", table=table, curve=found_curve(table["found"]))


def _brief(file: SessionFile) -> dict[str, Any]:
    """What was found in each table, the present one first, and which files these are."""
    summary = summarise(file, whole=False)
    tables = [
        {"choice": choice, "pool": table["pool"], **{name: table["found"][name] for name in ("answered", "hits")}}
        for choice, table in enumerate(summary["tables"])
    ]
    used = [table[name] for table in summary["tables"] for name in ("pool", "reference")]
    present = tables.pop(summary["present"])
    return {**present, "used": used, "earlier": tables[::-1]}


def serve(folder: Path, *, port: int, most_bytes: int, ready: Callable[[Entrance, Path], None]) -> None:
    """Serve the workbench of a folder on this machine alone until it is interrupted.

    Args:
        folder: holds the tables and the session; made where it is missing.
        port: to listen at; 0 for any that is free.
        most_bytes: of a file that is brought.
        ready: called with the way in and a folder of the owner's alone, in a thread of its own, once it answers.
    """
    import uvicorn

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with private_files(), temporary_folder() as apart, socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((ADDRESS, port))
        except OSError as error:
            raise InputError(f"port={port}: cannot be listened at: {error.strerror}; leave it out for any") from None
        token = secrets.token_urlsafe(32)
        bound = listening.getsockname()[1]
        app, bench, entrance = application(folder, token=token, port=bound, most_bytes=most_bytes)
        told: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
        quiet = uvicorn.Config(app, http=PromptProtocol, ws="none", **told)
        listening.listen()
        threading.Thread(target=ready, args=(entrance, apart), daemon=True).start()
        try:
            uvicorn.Server(quiet).run(sockets=[listening])
        finally:
            bench.worker.stop()
