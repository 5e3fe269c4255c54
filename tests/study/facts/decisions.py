"""Recognizes source that decides which rating, slot or rater counts."""

import ast
from collections.abc import Iterable, Iterator

from study.facts.ratings import MEASURING

REVISION = {"revision"}
SLOT = {"leased_until", "released_at", "replaces_id"}
STATES = {"withdrawn", "readmitted"}
#: In study/schema/tables.py.
TABLES = {"ratings", "decisions", "departures"}
STATEMENTS = {"select", "select_from", "join", "join_from", "exists"}


def decisions(tree: ast.Module) -> Iterator[str]:
    """Yield the columns on which a module decides what counts, and the tables that it reads."""
    yield from tables_read(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                yield from columns(side, SLOT | {"after_reveal"})
                yield from sorted(texts(side) & STATES)
        elif isinstance(node, ast.Set | ast.List | ast.Tuple):
            if texts(node) == set(MEASURING):
                yield "purposes that measure"
        elif isinstance(node, ast.BinOp | ast.BoolOp):
            if {"handed_on", "released"} <= names_in(node):
                yield "live"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from decisions_of_call(node, node.func)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            yield from columns(node.operand, {"after_reveal"})


def decisions_of_call(node: ast.Call, method: ast.Attribute) -> Iterator[str]:
    """Yield the columns on which a call of a method decides, such as `g.c.revision.desc()`."""
    if method.attr == "row_number":
        yield method.attr
    if method.attr in {"order_by", "max", "min", "over", "desc", "asc"}:
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            yield from columns(part, REVISION)
    if method.attr in {"is_", "is_not", "desc", "asc", "in_", "not_in"}:
        yield from columns(method.value, SLOT | REVISION)


def columns(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield the columns of these names, such as `g.c.revision`, in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in names:
            of = part.value
            if isinstance(of, ast.Attribute) and of.attr == "c":
                yield part.attr


def texts(node: ast.AST) -> set[object]:
    """Return the constants of an expression."""
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}


def names_in(node: ast.BinOp | ast.BoolOp) -> set[object]:
    """Return the columns that an expression combines, as `row.released` or `rows["released"]`."""
    sides = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
    names: set[object] = set()
    for side in sides:
        bare = side.operand if isinstance(side, ast.UnaryOp) else side
        if isinstance(bare, ast.Attribute):
            names.add(bare.attr)
        elif isinstance(bare, ast.Subscript) and isinstance(bare.slice, ast.Constant):
            names.add(bare.slice.value)
    return names


def tables_read(tree: ast.Module) -> Iterator[str]:
    """Yield the tables that a statement of the module reads itself."""
    of_facts = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("study.facts")
        for alias in node.names
    }
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    everywhere = bindings(tree.body)
    for scope in (tree, *functions):
        bound = everywhere | bindings(ast.walk(scope)) if scope is not tree else everywhere

        def read(node: ast.AST, bound: dict[str, str | None] = bound) -> Iterator[str]:
            if isinstance(node, ast.Call) and (
                called(node) in of_facts or root(node.func) in of_facts
            ):
                return
            name = bound.get(node.id) if isinstance(node, ast.Name) else None
            if name is not None:
                yield name
            for part in ast.iter_child_nodes(node):
                yield from read(part)

        for node in ast.walk(scope) if scope is not tree else walk_outside_functions(tree):
            if isinstance(node, ast.Call) and (called(node) in STATEMENTS or is_existence(node)):
                for part in node.args:
                    yield from read(part)


def walk_outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a module that are not in a function or class."""
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from ast.walk(node)


def bindings(nodes: Iterable[ast.AST]) -> dict[str, str | None]:
    """Return the names that are bound, with the table of `TABLES` that an import binds, or None."""
    bound: dict[str, str | None] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "study.schema.tables":
            for alias in node.names:
                bound[alias.asname or alias.name] = alias.name if alias.name in TABLES else None
        elif isinstance(node, ast.arg):
            bound[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = None
    return bound


def is_existence(node: ast.Call) -> bool:
    """Return whether a call is the condition of `exists().where(...)`."""
    method = node.func
    return (
        isinstance(method, ast.Attribute)
        and isinstance(method.value, ast.Call)
        and called(method.value) == "exists"
    )


def root(node: ast.AST) -> str | None:
    """Return the first name of `facts.newest_ratings`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def called(node: ast.Call) -> str | None:
    """Return the name of the function or method that is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None
