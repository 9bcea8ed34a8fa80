"""Exports as other hands write them: spreadsheets of seven countries, banks, machines, logs, databases, APIs, frames.

Each function writes a file into a folder (or makes a frame) and gives an `Export`: the source, the role of each column,
and the rows that stand out. None of them looks at how the reader works.
"""

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl


@dataclass(frozen=True, kw_only=True)
class Export:
    """What was written.

    Attributes:
        source: a path, or a frame.
        roles: of every column, in order.
        rows: how many rows of data it has.
        planted: positions of rows that stand out.
        first: some cells of the first row as the file has them, by column.
        left_out: lines that are no rows, such as totals.
    """

    source: Any
    roles: dict[str, str]
    rows: int
    planted: list[int]
    first: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


EXPORTS: dict[str, Callable[[Path], Export]] = {}


def export(function: Callable[[Path], Export]) -> Callable[[Path], Export]:
    """Keep a function under its name in words."""
    EXPORTS[function.__name__.replace("_", " ")] = function
    return function


def german(value: float, decimals: int = 2) -> str:
    """1.234,56."""
    return f"{value:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def planted_in(rng: np.random.Generator, rows: int, number: int = 8) -> list[int]:
    """Positions anywhere in the table."""
    return sorted(rng.choice(np.arange(5, rows - 5), number, replace=False).tolist())


def lines(
    path: Path, rows: list[list[Any]], *, delimiter: str = ",", encoding: str = "utf-8", ends: str = "\n"
) -> Path:
    """Write records as the csv module does."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=ends).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


@export
def german_invoices_under_title_lines(folder: Path) -> Export:
    rng, rows = np.random.default_rng(1), 420
    odd = planted_in(rng, rows)
    body = []
    for i in range(rows):
        net = rng.lognormal(5, 0.7) * (14 if i in odd else 1)
        days = int(rng.choice([14, 30, 30, 30])) if i not in odd else 90
        body.append(
            [
                f"RE-2025-{i + 1:05d}",
                (date(2025, 1, 2) + timedelta(days=i // 3)).strftime("%d.%m.%Y"),
                f"{10000 + int(rng.integers(0, 60)) * 7}",
                f"{1067 + 1499 * int(rng.integers(0, 50)):05d}",
                german(net) + " €",
                german(net * 0.19) + " €",
                str(days),
                rng.choice(["bezahlt", "offen", "k.A."], p=[0.8, 0.18, 0.02]),
                f"Lieferung {i} an Müller & Söhne, Köln",
            ]
        )
    names = ["Rechnungs-Nr.", "Rechnungsdatum", "Kunden-ID", "PLZ", "Netto", "USt", "Zahlungsziel", "Status", "Betreff"]
    total = ["Summe", "", "", "", german(9e5) + " €", german(2e5) + " €", "", "", ""]
    head = [["Rechnungsausgang 2025"], ["Mandant: 4711", "erstellt am 30.06.2025"], []]
    path = lines(folder / "Rechnungen.csv", [*head, names, *body, total], delimiter=";", encoding="cp1252", ends="\r\n")
    roles = ["id", "time", "code", "code", "number", "number", "number", "category", "free text"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        first={"Rechnungs-Nr.": "RE-2025-00001", "Netto": body[0][4], "Rechnungsdatum": "02.01.2025"},
        left_out=1,
    )


@export
def german_bank_statement(folder: Path) -> Export:
    rng, rows = np.random.default_rng(2), 360
    odd = planted_in(rng, rows)
    balance, body = 20_000.0, []
    for i in range(rows):
        amount = -rng.lognormal(3.5, 0.8) if i not in odd else -rng.uniform(4000, 6000)
        balance += amount
        day = date(2025, 1, 1) + timedelta(days=i // 2)
        body.append(
            [
                day.strftime("%d.%m.%y"),
                (day + timedelta(days=1)).strftime("%d.%m.%y"),
                rng.choice(["Lastschrift", "Kartenzahlung", "Dauerauftrag"]) if i not in odd else "Auslandsüberweisung",
                f"Zahlung {rng.integers(1e6, 1e7)} vom {day:%d.%m.}",
                f"DE{rng.integers(10**17, 10**18):020d}",
                german(amount),
                "EUR",
                german(balance),
            ]
        )
    names = ["Buchungstag", "Wertstellung", "Umsatzart", "Verwendungszweck", "IBAN", "Betrag", "Währung", "Saldo"]
    head = [["Kontoauszug", "", "", "", "", "", "", ""], ["Konto:", "DE02 1203 0000 0000 2020 51", *[""] * 6], [""] * 8]
    foot = [["Kontostand am 30.06.2025", "", "", "", "", "", "", german(balance)]]
    path = lines(folder / "umsaetze.csv", [*head, names, *body, *foot], delimiter=";", encoding="utf-8-sig")
    roles = ["time", "date", "category", "free text", "id", "number", "constant", "number"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        left_out=1,
        first={"Betrag": body[0][5], "Buchungstag": "01.01.25"},
    )


@export
def french_spreadsheet(folder: Path) -> Export:
    rng, rows = np.random.default_rng(3), 300
    odd = planted_in(rng, rows)
    names = ["N° commande", "Date", "Mode de règlement", "Montant TTC", "Remise", "Urgent", "Code postal"]
    body = []
    for i in range(rows):
        amount = f"{rng.lognormal(7, 0.5) * (6 if i in odd else 1):,.2f}".replace(",", "\u202f").replace(".", ",")
        rebate = f"{(30 if i in odd else 0) + rng.integers(0, 5)},{rng.integers(0, 10)} %"
        paid = "Espèces" if i in odd else rng.choice(["Carte", "Virement", "Chèque"])
        postal = f"{1000 * int(rng.integers(1, 40)):05d}"
        day = datetime(2025, 3, 1, 8) + timedelta(hours=2 * i)
        body.append(
            [f"C{i:04d}", f"{day:%d/%m/%Y %H:%M}", paid, amount + " €", rebate, "Oui" if i in odd else "Non", postal]
        )
    path = (
        lines(folder / "Commandes mars.csv", [names, *body], delimiter=";", encoding="cp1252", ends="\r\n")
        if False
        else (lines(folder / "Commandes mars.csv", [names, *body], delimiter=";", encoding="utf-8-sig", ends="\r\n"))
    )
    roles = ["id", "time", "category", "number", "number", "category", "code"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        first={"Montant TTC": body[0][3], "Remise": body[0][4]},
    )


@export
def american_expenses(folder: Path) -> Export:
    rng, rows = np.random.default_rng(4), 500
    odd = planted_in(rng, rows)
    names = ["Expense ID", "Submitted", "Employee", "Department", "Amount", "Receipt?", "Miles", "Memo"]
    body = []
    for i in range(rows):
        when = datetime(2026, 1, 1, 5, 18) + timedelta(minutes=137 * i)
        stamp = f"{when.month}/{when.day}/{when:%y} {when.hour % 12 or 12}:{when:%M} {when:%p}"
        amount = rng.lognormal(4, 0.8) if i not in odd else rng.uniform(2500, 4000)
        miles = int(rng.poisson(20)) if i not in odd else int(rng.integers(400, 700))
        body.append(
            [
                f"{880000 + i}",
                stamp,
                f"{rng.choice(['Ann', 'Bob', 'Cy', 'Dee', 'Eve'])} {rng.choice(['Li', 'Roe', 'Ng'])}",
                rng.choice(["Sales", "IT", "Ops"]),
                f"${amount:,.2f}" if i % 50 != 9 else f"(${amount:,.2f})",
                "No" if i in odd else rng.choice(["Yes", "Yes", "Yes", "No"]),
                f"{miles:,}",
                f"Invoice {i}, see attached",
            ]
        )
    path = lines(folder / "expenses.csv", [names, *body])
    roles = ["id", "time", "category", "category", "number", "category", "number", "free text"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        first={"Amount": body[0][4], "Submitted": "1/1/26 5:18 AM"},
    )


@export
def american_bank_with_memo_lines(folder: Path) -> Export:
    rng, rows = np.random.default_rng(5), 250
    odd = planted_in(rng, rows, 6)
    names = ["Date", "Description", "Check No", "Debit", "Credit"]
    body = []
    for i in range(rows):
        day = date(2025, 2, 1) + timedelta(days=i // 2)
        debit = rng.lognormal(3.5, 0.6) * (30 if i in odd else 1)
        credit = rng.lognormal(6, 0.3) if i % 25 == 3 else None
        body.append(
            [
                f"{day:%m/%d/%Y}",
                f"POS {rng.integers(1e5, 1e6)} STORE",
                "",
                f"{debit:.2f}",
                f"{credit:.2f}" if credit else "",
            ]
        )
    head = ["Account Name,Everyday Checking", "Memo: Invoice, see attached", "As of,06/30/2025", ""]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [names, *body, ["", "", "", "", ""], ["Total", "", "", "9999.12", "101.00"]]
    )
    path = folder / "checking.csv"
    path.write_text("\n".join(head) + "\n" + text.getvalue())
    roles = ["time", "free text", "empty", "number", "number"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        left_out=2,
        first={"Date": "02/01/2025", "Debit": body[0][3]},
    )


@export
def turkish_loans(folder: Path) -> Export:
    rng, rows = np.random.default_rng(6), 320
    odd = planted_in(rng, rows)
    names = ["Müşteri No", "Başvuru Tarihi", "Tutar", "Taksit", "Faiz Oranı", "Şehir", "Onaylandı"]
    body = []
    for i in range(rows):
        amount = rng.lognormal(9, 0.5) * (8 if i in odd else 1)
        body.append(
            [
                f"{rng.integers(10**6, 10**7)}",
                f"{date(2025, 1, 1) + timedelta(days=i // 2):%d.%m.%Y}",
                german(amount) + " TL",
                str(int(rng.choice([12, 24, 36])) if i not in odd else 3),
                "%" + german(rng.normal(2.5, 0.2) + (4 if i in odd else 0)),
                rng.choice(["İstanbul", "Ankara", "İzmir", "Muğla"]),
                rng.choice(["Evet", "Hayır"], p=[0.7, 0.3]),
            ]
        )
    path = lines(folder / "krediler.csv", [names, *body], delimiter=";", encoding="cp1254", ends="\r\n")
    roles = ["id", "time", "number", "number", "number", "category", "category"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        first={"Tutar": body[0][2], "Şehir": body[0][5]},
    )


@export
def swedish_sales(folder: Path) -> Export:
    rng, rows = np.random.default_rng(7), 280
    odd = planted_in(rng, rows)
    names = ["Ordernr", "Orderdatum", "Belopp", "Antal", "Rabatt", "Säljare", "Medlem"]
    body = []
    for i in range(rows):
        amount = f"{rng.lognormal(7.2, 0.4) * (5 if i in odd else 1):,.2f}".replace(",", "\u00a0").replace(".", ",")
        body.append(
            [
                f"SO{20000 + i}",
                str(date(2025, 1, 1) + timedelta(days=i // 2)),
                amount + " kr",
                str(rng.poisson(3) + 1 + (30 if i in odd else 0)),
                f"{rng.integers(0, 8)}%" if i not in odd else "65%",
                rng.choice(["Åsa", "Örjan", "Märta"]),
                rng.choice(["Ja", "Nej"]),
            ]
        )
    path = lines(folder / "försäljning.csv", [names, *body], delimiter=";", encoding="utf-8-sig")
    roles = ["id", "time", "number", "number", "number", "category", "category"]
    return Export(source=path, roles=dict(zip(names, roles, strict=True)), rows=rows, planted=odd)


@export
def japanese_spreadsheet(folder: Path) -> Export:
    rng, rows = np.random.default_rng(8), 260
    odd = planted_in(rng, rows)
    names = ["伝票番号", "日付", "店舗", "金額", "数量", "備考"]
    body = []
    for i in range(rows):
        amount = int(rng.lognormal(8, 0.5) * (10 if i in odd else 1))
        day = date(2025, 1, 1) + timedelta(days=i)
        body.append(
            [
                f"D{i:06d}",
                f"{day.year}年{day.month}月{day.day}日",
                rng.choice(["東京店", "大阪店", "名古屋店"]),
                f"￥{amount:,}",
                str(rng.poisson(4) + 1 + (50 if i in odd else 0)),
                "" if i % 3 else f"備考その{i}について",
            ]
        )
    total = ["合計", "", "", "￥9,999,999", "999", ""]
    path = lines(folder / "売上.csv", [names, *body, total], encoding="cp932", ends="\r\n")
    roles = ["id", "time", "category", "number", "number", "free text"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        left_out=1,
        first={"日付": "2025年1月1日", "店舗": body[0][2]},
    )


@export
def indian_ledger_with_lakhs(folder: Path) -> Export:
    rng, rows = np.random.default_rng(9), 240
    odd = planted_in(rng, rows)

    def lakhs(value: float) -> str:
        whole, _, cents = f"{value:.2f}".partition(".")
        groups = [whole[-3:]]
        whole = whole[:-3]
        while whole:
            groups.insert(0, whole[-2:])
            whole = whole[:-2]
        return ",".join(groups) + "." + cents

    names = ["Voucher No", "Date", "Ledger", "Amount (INR)", "GST"]
    body = []
    for i in range(rows):
        amount = rng.lognormal(11, 0.8) * (20 if i in odd else 1)
        day = date(2025, 4, 1) + timedelta(days=i // 2)
        body.append(
            [
                f"V/{i + 1:04d}/25",
                f"{day:%d-%b-%Y}",
                rng.choice(["Sales", "Rent", "Travel"]),
                lakhs(amount),
                lakhs(amount * (0.28 if i in odd else 0.18)),
            ]
        )
    path = lines(folder / "ledger.csv", [names, *body])
    roles = ["id", "time", "category", "number", "number"]
    return Export(
        source=path,
        roles=dict(zip(names, roles, strict=True)),
        rows=rows,
        planted=odd,
        first={"Amount (INR)": body[0][3]},
    )


@export
def sensor_log_with_units_and_durations(folder: Path) -> Export:
    rng, rows = np.random.default_rng(10), 700
    odd = planted_in(rng, rows)
    body = []
    for i in range(rows):
        wait = timedelta(seconds=int(rng.gamma(4, 20)) + (7200 if i in odd else 0))
        pressure = -999 if i % 40 == 11 else f"{rng.normal(1013, 4):.1f}"
        status = "E42" if i == 300 else "OK"
        temperature = rng.normal(21, 0.6) + (9 if i in odd else 0)
        body.append(
            [
                f"{datetime(2025, 5, 1) + timedelta(minutes=10 * i):%Y-%m-%dT%H:%M:%SZ}",
                f"{temperature:.2f}",
                pressure,
                f"{rng.normal(45, 3):.1f}",
                str(wait),
                status,
            ]
        )
    names = ["timestamp", "temperature", "pressure", "humidity", "wait", "status"]
    units = ["", "°C", "hPa", "%", "h:mm:ss", ""]
    path = lines(folder / "sensor.log.txt", [names, units, *body], delimiter="\t")
    roles = ["time", "number", "number", "number", "number", "category"]
    read = [names[0], "temperature °C", "pressure hPa", "humidity %", "wait h:mm:ss", "status"]
    return Export(source=path, roles=dict(zip(read, roles, strict=True)), rows=rows, planted=odd)


@export
def machine_times_in_words(folder: Path) -> Export:
    rng, rows = np.random.default_rng(11), 400
    odd = planted_in(rng, rows)
    names = ["job", "machine_id", "queue", "run", "energy"]
    body = []
    for i in range(rows):
        run = int(rng.gamma(9, 30)) + (9000 if i in odd else 0)
        body.append(
            [
                f"job-{i:05d}",
                f"{int(rng.integers(1, 8))}",
                f"{rng.gamma(3, 20):.0f} s",
                f"PT{run // 60}M{run % 60}S",
                f"{run * rng.normal(0.02, 0.001):.2f} kWh",
            ]
        )
    path = lines(folder / "jobs.tsv", [names, *body], delimiter="\t")
    roles = ["id", "code", "number", "number", "number"]
    return Export(source=path, roles=dict(zip(names, roles, strict=True)), rows=rows, planted=odd)


@export
def web_server_log(folder: Path) -> Export:
    rng, rows = np.random.default_rng(12), 600
    odd = planted_in(rng, rows)
    text = []
    for i in range(rows):
        when = datetime(2025, 6, 30, 1) + timedelta(seconds=11 * i)
        size = int(rng.lognormal(8, 0.5)) if i not in odd else int(rng.uniform(4e6, 9e6))
        page = rng.choice(["/", "/cart", "/item", "/search"]) if i not in odd else "/admin/dump"
        status = 500 if i in odd else int(rng.choice([200, 200, 200, 304, 404]))
        agent = rng.choice(["Mozilla/5.0 (X11)", "Mozilla/5.0 (Mac)"])
        text.append(
            f"10.0.{rng.integers(0, 9)}.{rng.integers(1, 250)} - - [{when:%d/%b/%Y:%H:%M:%S} +0200] "
            f'"GET {page} HTTP/1.1" {status} {size} "-" "{agent}"'
        )
    path = folder / "access.txt"
    path.write_text("\n".join(text) + "\n")
    roles = ["free text", "constant", "constant", "time", "category", "number", "number", "constant", "category"]
    return Export(
        source=path, roles={f"column {at + 1}": role for at, role in enumerate(roles)}, rows=rows, planted=odd
    )


@export
def aligned_columns_of_a_lab(folder: Path) -> Export:
    rng, rows = np.random.default_rng(13), 200
    odd = planted_in(rng, rows, 6)
    text = ["sample      mass    length   ph"]
    for i in range(rows):
        mass, length = rng.normal(50, 2) + (20 if i in odd else 0), rng.normal(7, 0.3) - (3 if i in odd else 0)
        text.append(f"S{i:<8d}{mass:8.3f}{length:10.2f}{rng.normal(7, 0.1):6.2f}")
    path = folder / "lab.txt"
    path.write_text("\n".join(text) + "\n")
    roles = {"sample": "id", "mass": "number", "length": "number", "ph": "number"}
    return Export(source=path, roles=roles, rows=rows, planted=odd)


@export
def no_line_of_names(folder: Path) -> Export:
    rng, rows = np.random.default_rng(14), 300
    odd = planted_in(rng, rows)
    body = [
        [
            f"{rng.normal(10, 1) + (9 if i in odd else 0):.3f}",
            rng.choice(["red", "blue"]) if i not in odd else "black",
            int(rng.poisson(40)) + (60 if i in odd else 0),
            f"{rng.normal():.4f}",
        ]
        for i in range(rows)
    ]
    path = lines(folder / "export.csv", body, delimiter=";")
    roles = {"column 1": "number", "column 2": "category", "column 3": "number", "column 4": "number"}
    return Export(source=path, roles=roles, rows=rows, planted=odd)


@export
def erp_material_list(folder: Path) -> Export:
    rng, rows = np.random.default_rng(15), 480
    odd = planted_in(rng, rows)
    names = ["Material", "Werk", "Lagerort", "Warengruppe", "Bestand", "Preis", "Preis", "Angelegt", "Kostenstelle", ""]
    body = []
    for i in range(rows):
        stock = german(int(rng.lognormal(5, 0.7)) + (9000 if i in odd else 0), 0)
        price = rng.lognormal(3, 0.5) * (25 if i in odd else 1)
        sign = "-" if i % 60 == 7 else ""
        body.append(
            [
                f"{i * 13 + 4711:018d}",
                rng.choice(["0010", "0020", "1000"]),
                f"{int(rng.integers(1, 9)):04d}",
                f"{int(rng.choice([100200, 100300, 200100, 300400]))}",
                stock + sign,
                german(price),
                german(price * 1.19),
                f"{date(2019, 1, 1) + timedelta(days=3 * i):%Y%m%d}",
                f"{int(rng.choice([41100, 41200, 43900, 47000]))}",
                "",
            ]
        )
    path = lines(folder / "MB52.txt", [names, *body], delimiter="\t", encoding="utf-16", ends="\r\n")
    read = ["Material", "Werk", "Lagerort", "Warengruppe", "Bestand", "Preis", "Preis (2)", "Angelegt", "Kostenstelle"]
    roles = ["id", "code", "code", "code", "number", "number", "number", "time", "code"]
    return Export(
        source=path,
        roles=dict(zip(read, roles, strict=True)),
        rows=rows,
        planted=odd,
        first={"Material": "000000000000004711", "Werk": body[0][1]},
    )


@export
def survey_with_codes_for_missing(folder: Path) -> Export:
    rng, rows = np.random.default_rng(16), 520
    odd = planted_in(rng, rows)
    names = ["respondent", "age", "income", "satisfaction", "household", "born", "comment"]
    body = []
    for i in range(rows):
        income = -999 if i % 17 == 4 and i not in odd else int(rng.lognormal(7.8, 0.4) * (9 if i in odd else 1))
        age = 9999 if i % 50 == 8 and i not in odd else int(rng.integers(18, 80))
        born = "1900-01-01" if i % 50 == 8 else str(date(1950, 1, 1) + timedelta(days=int(rng.integers(0, 18000))))
        household = int(rng.integers(1, 6)) if i not in odd else 14
        body.append(
            [
                i + 1,
                age,
                income,
                int(rng.integers(1, 6)),
                household,
                born,
                f"comment of {i}, free" if i % 4 == 0 else "",
            ]
        )
    path = lines(folder / "survey.csv", [names, *body])
    roles = ["id", "number", "number", "number", "number", "date", "free text"]
    return Export(source=path, roles=dict(zip(names, roles, strict=True)), rows=rows, planted=odd)


@export
def shop_orders_with_emails(folder: Path) -> Export:
    rng, rows = np.random.default_rng(17), 900
    odd = planted_in(rng, rows, 10)
    names = [
        "order_no",
        "customer_id",
        "email",
        "created_at",
        "items",
        "total",
        "discount",
        "coupon",
        "country",
        "fraud",
    ]
    body = []
    for i in range(rows):
        who = int(rng.integers(0, 500))
        items = int(rng.poisson(2)) + 1 + (30 if i in odd else 0)
        body.append(
            [
                100000 + i * 3,
                40000 + who,
                f"user{who}@{rng.choice(['mail', 'post'])}.example",
                f"{datetime(2025, 1, 1) + timedelta(minutes=97 * i):%Y-%m-%d %H:%M:%S}",
                items,
                f"{items * rng.lognormal(3, 0.3):.2f}",
                f"{(0.75 if i in odd else 0) + rng.choice([0, 0, 0.05, 0.1]):.2f}",
                "GIFT75" if i in odd else rng.choice(["", "", "SPRING", "NEW10"]),
                rng.choice(["DE", "FR", "NA", "AT"]),
                int(i in odd[:5]),
            ]
        )
    path = lines(folder / "orders.csv", [names, *body])
    roles = ["id", "other id", "free text", "time", "number", "number", "number", "category", "category", "label"]
    return Export(source=path, roles=dict(zip(names, roles, strict=True)), rows=rows, planted=odd)


@export
def excel_payments_with_title_and_totals(folder: Path) -> Export:
    from openpyxl import Workbook

    rng, rows = np.random.default_rng(18), 260
    odd = planted_in(rng, rows)
    book = Workbook()
    cover = book.active
    cover.title = "Deckblatt"
    cover["B2"] = "Zahlungen 2025"
    cover["B3"] = "vertraulich"
    sheet = book.create_sheet("Zahlungen")
    sheet.append(["Zahlungen des Jahres 2025"])
    sheet.merge_cells("A1:F1")
    sheet.append([])
    names = ["Beleg", "Datum", "Lieferant", "Betrag", "Skonto", "Bemerkung"]
    sheet.append(names)
    for i in range(rows):
        amount = round(float(rng.lognormal(6, 0.6) * (12 if i in odd else 1)), 2)
        sheet.append(
            [
                f"ER{i:05d}",
                datetime(2025, 1, 2) + timedelta(days=i),
                str(rng.choice(["Abel", "Bach", "Cohn"])),
                amount,
                0.3 if i in odd else float(rng.choice([0, 0.02, 0.03])),
                f"Lieferschein {i}",
            ]
        )
    sheet.append(["Summe", None, None, 123456.78, None, None])
    book.create_sheet("Stammdaten").append(["nur", "Text"])
    path = folder / "zahlungen.xlsx"
    book.save(path)
    roles = ["id", "time", "category", "number", "number", "free text"]
    return Export(source=path, roles=dict(zip(names, roles, strict=True)), rows=rows, planted=odd, left_out=1)


@export
def excel_of_texts_with_merged_cells(folder: Path) -> Export:
    from openpyxl import Workbook

    rng, rows = np.random.default_rng(19), 240
    odd = planted_in(rng, rows)
    book = Workbook()
    sheet = book.active
    sheet.append(["Filiale", "Umsatz", None, "Personal", None])
    sheet.append([None, "brutto", "netto", "Stunden", "frei"])
    sheet.merge_cells("B1:C1")
    sheet.merge_cells("D1:E1")
    sheet.merge_cells("A1:A2")
    for i in range(rows):
        gross = rng.lognormal(8, 0.3) * (5 if i in odd else 1)
        sheet.append(
            [
                ["Nord", "Süd", "West"][i // 20 % 3] if i % 20 == 0 else None,
                german(gross),
                german(gross / (3 if i in odd else 1.19)),
                german(rng.normal(38, 2), 1),
                "ja" if rng.random() < 0.2 else "nein",
            ]
        )
    for top in range(3, 3 + rows, 20):
        sheet.merge_cells(start_row=top, end_row=top + 19, start_column=1, end_column=1)
    path = folder / "filialen.xlsx"
    book.save(path)
    roles = {
        "Filiale": "category",
        "Umsatz brutto": "number",
        "Umsatz netto": "number",
        "Personal Stunden": "number",
        "Personal frei": "category",
    }
    return Export(source=path, roles=roles, rows=rows, planted=odd)


@export
def sqlite_shop_with_several_tables(folder: Path) -> Export:
    rng, rows = np.random.default_rng(20), 500
    odd = planted_in(rng, rows)
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as shop, shop:
        shop.execute("create table countries (code text, name text)")
        shop.executemany("insert into countries values (?, ?)", [("DE", "Germany"), ("FR", "France")])
        shop.execute(
            "create table sales (sale_id integer primary key, sold text, amount real, pieces integer, rebate text, "
            "country text)"
        )
        for i in range(rows):
            sale = (
                5000 + i,
                f"{datetime(2025, 1, 1) + timedelta(hours=i):%Y-%m-%d %H:%M:%S}",
                float(rng.lognormal(3, 0.5) * (15 if i in odd else 1)),
                int(rng.poisson(3)) + (40 if i in odd else 0),
                f"{rng.integers(0, 10)},{rng.integers(0, 10)} %",
                str(rng.choice(["DE", "FR"])),
            )
            shop.execute("insert into sales values (?, ?, ?, ?, ?, ?)", sale)
    roles = {
        "sale_id": "id",
        "sold": "time",
        "amount": "number",
        "pieces": "number",
        "rebate": "number",
        "country": "category",
    }
    return Export(source=path, roles=roles, rows=rows, planted=odd)


@export
def duckdb_with_types_and_a_struct(folder: Path) -> Export:
    import duckdb

    rng, rows = np.random.default_rng(21), 400
    odd = planted_in(rng, rows)
    path = folder / "plant.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute(
            "create table runs (run_id uuid, began timestamp, took interval, load decimal(10,2), "
            "where_ struct(hall varchar, line integer), operator varchar)"
        )
        for i in range(rows):
            took = int(rng.gamma(5, 60)) + (20_000 if i in odd else 0)
            base.execute(
                "insert into runs values (?, ?, to_seconds(?), ?, {'hall': ?, 'line': ?}, ?)",
                [
                    f"00000000-0000-4000-8000-{i * 7919:012d}",
                    datetime(2025, 2, 1) + timedelta(minutes=7 * i),
                    took,
                    round(float(rng.normal(70, 4) + (60 if i in odd else 0)), 2),
                    str(rng.choice(["A", "B"])),
                    int(rng.integers(1, 5)),
                    str(rng.choice(["kim", "lee"])),
                ],
            )
    roles = {
        "run_id": "id",
        "began": "time",
        "took": "number",
        "load": "number",
        "where_.hall": "category",
        "where_.line": "number",
        "operator": "category",
    }
    return Export(source=path, roles=roles, rows=rows, planted=odd)


@export
def json_answer_of_an_api(folder: Path) -> Export:
    rng, rows = np.random.default_rng(22), 300
    odd = planted_in(rng, rows)
    items = [
        {
            "id": f"pay_{i * 7919 % 100003:06x}",
            "created": 1735689600 + 3600 * i,
            "amount": {"value": f"{rng.lognormal(4, 0.5) * (20 if i in odd else 1):.2f}", "currency": "EUR"},
            "card": {
                "country": "BT" if i in odd else str(rng.choice(["DE", "AT"])),
                "checks": {"cvc": "fail" if i in odd else "pass"},
            },
            "captured": bool(rng.random() < 0.9),
            "lines": [{"sku": "a"}] * int(rng.integers(1, 3)),
            **({"note": f"see ticket {i}"} if i % 5 == 0 else {}),
        }
        for i in range(rows)
    ]
    path = folder / "payments.json"
    path.write_text(json.dumps({"object": "list", "has_more": False, "data": items}, indent=2))
    roles = {
        "id": "id",
        "created": "time",
        "amount.value": "number",
        "amount.currency": "constant",
        "card.country": "category",
        "card.checks.cvc": "category",
        "captured": "flag",
        "lines": "unclear",
        "note": "free text",
    }
    return Export(source=path, roles=roles, rows=rows, planted=odd)


@export
def json_lines_of_events(folder: Path) -> Export:
    rng, rows = np.random.default_rng(23), 350
    odd = planted_in(rng, rows)
    with (folder / "events.jsonl").open("w", encoding="utf-8") as file:
        for i in range(rows):
            event = {
                "ts": f"{datetime(2025, 1, 1) + timedelta(seconds=90 * i):%Y-%m-%dT%H:%M:%S}.{i % 1000:03d}Z",
                "level": "ERROR" if i in odd else str(rng.choice(["INFO", "WARN"])),
                "ctx": {
                    "ms": float(round(rng.gamma(2, 10) + (4000 if i in odd else 0), 1)),
                    "bytes": int(rng.integers(100, 900)) * (50 if i in odd else 1),
                },
                "session": f"{rng.integers(16**8, 16**9):x}",
            }
            file.write(json.dumps(event) + "\n")
    roles = {"ts": "time", "level": "category", "ctx.ms": "number", "ctx.bytes": "number", "session": "id"}
    return Export(source=folder / "events.jsonl", roles=roles, rows=rows, planted=odd)


def _texts(rng: np.random.Generator, rows: int, odd: list[int]) -> dict[str, list[str]]:
    return {
        "Vertrag": [f"V-{i:05d}" for i in range(rows)],
        "Beginn": [f"{date(2024, 1, 1) + timedelta(days=i):%d.%m.%Y}" for i in range(rows)],
        "Prämie": [german(rng.lognormal(6, 0.4) * (7 if i in odd else 1)) + " €" for i in range(rows)],
        "Anteil": [
            "k.A." if i % 30 == 4 else f"{rng.normal(40, 5) + (50 if i in odd else 0):.1f}".replace(".", ",")
            for i in range(rows)
        ],
        "Kinder": [str(rng.poisson(1) + (9 if i in odd else 0)) for i in range(rows)],
        "Raucher": [str(rng.choice(["Ja", "Nein"])) for _ in range(rows)],
        "PLZ": [f"{1067 + 1499 * int(rng.integers(0, 50)):05d}" for _ in range(rows)],
    }


ROLES_OF_TEXTS = {
    "Vertrag": "id",
    "Beginn": "time",
    "Prämie": "number",
    "Anteil": "number",
    "Kinder": "number",
    "Raucher": "category",
    "PLZ": "code",
}


@export
def pandas_frame_of_strings(folder: Path) -> Export:
    rng, rows = np.random.default_rng(24), 330
    odd = planted_in(rng, rows)
    return Export(source=pd.DataFrame(_texts(rng, rows, odd)), roles=ROLES_OF_TEXTS, rows=rows, planted=odd)


@export
def polars_frame_of_strings(folder: Path) -> Export:
    rng, rows = np.random.default_rng(25), 330
    odd = planted_in(rng, rows)
    return Export(source=pl.DataFrame(_texts(rng, rows, odd)), roles=ROLES_OF_TEXTS, rows=rows, planted=odd)


@export
def parquet_of_strings(folder: Path) -> Export:
    rng, rows = np.random.default_rng(26), 330
    odd = planted_in(rng, rows)
    path = folder / "vertraege.parquet"
    pl.DataFrame(_texts(rng, rows, odd)).write_parquet(path)
    return Export(source=path, roles=ROLES_OF_TEXTS, rows=rows, planted=odd)


@export
def pandas_frame_of_mixed_objects(folder: Path) -> Export:
    rng, rows = np.random.default_rng(27), 260
    odd = planted_in(rng, rows)
    frame = pd.DataFrame(
        {
            "started": [datetime(2025, 3, 1) + timedelta(hours=i) for i in range(rows)],
            "at": [
                time(int(rng.integers(8, 18)), int(rng.integers(0, 60))) if i not in odd else time(3, 10)
                for i in range(rows)
            ],
            "took": pd.to_timedelta(rng.gamma(3, 50, rows) + 5000 * np.isin(np.arange(rows), odd), unit="s"),
            "shop": pd.Categorical(rng.choice(["1", "2", "3"], rows)),
            "reading": [
                int(v) if i % 9 else ("n/a" if i % 2 else None)
                for i, v in enumerate(rng.normal(100, 5, rows) + 60 * np.isin(np.arange(rows), odd))
            ],
            "zip": [float(10115 + 7 * v) if v else np.nan for v in rng.integers(0, 30, rows)],
        }
    )
    roles = {
        "started": "time",
        "at": "number",
        "took": "number",
        "shop": "category",
        "reading": "number",
        "zip": "code",
    }
    return Export(source=frame, roles=roles, rows=rows, planted=odd)


@export
def ragged_lines_and_pipes(folder: Path) -> Export:
    rng, rows = np.random.default_rng(28), 400
    odd = planted_in(rng, rows)
    text = ["id|amount|qty|state"]
    for i in range(rows):
        text.append(
            f"{i + 1}|{rng.lognormal(4, 0.4) * (15 if i in odd else 1):.2f}|"
            f"{rng.poisson(5) + (60 if i in odd else 0)}|{rng.choice(['new', 'old'])}"
        )
        if i in (100, 222):
            text.append("broken|line")
    path = folder / "dump.txt"
    path.write_text("\r\n".join(text) + "\r\n-- 400 rows exported --\r\n")
    roles = {"id": "id", "amount": "number", "qty": "number", "state": "category"}
    return Export(source=path, roles=roles, rows=rows, planted=odd, left_out=3)
