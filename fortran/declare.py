#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module heddle: an interface to each function of heddle/c.h, made when Heddle is built.

  declare.py DECLARATIONS OUTPUT [NAME=VALUE...]

DECLARATIONS is what python/heddle/_declarations.py writes; the pairs are the header's constants.
Names, order of arguments and meaning are those of c.h; Fortran knows no capitals, so a constant that
is named as a function gets `_value` behind its name. Every pointer is a type(c_ptr) by value, but
a text that goes in, which is an array of characters that ends with c_null_char.
"""
import re
import sys

from pycparser import c_ast, c_parser

INTEGERS = {
    "char": "c_char", "unsigned char": "c_signed_char", "int": "c_int", "size_t": "c_size_t", "ptrdiff_t": "c_intptr_t",
    "int8_t": "c_int8_t", "int16_t": "c_int16_t", "int32_t": "c_int32_t", "int64_t": "c_int64_t",
    # Fortran has no unsigned integers: the bits are the same.
    "uint8_t": "c_int8_t", "uint16_t": "c_int16_t", "uint32_t": "c_int32_t", "uint64_t": "c_int64_t",
    "unsigned int": "c_int", "unsigned": "c_int",
}
KNOWN = "".join(f"typedef int {name};\n" for name in INTEGERS if name.endswith("_t")) + "typedef int bool;\n"
MOST_COLUMNS = 120
RESULT = "returned"


def folded(line):
    """`line` on as many lines as Fortran's limit asks for."""
    if len(line) <= MOST_COLUMNS:
        return line
    indent = re.match(" *", line).group()
    cut = line.rfind(", ", 0, MOST_COLUMNS - 2) + 1
    return line[:cut] + " &\n" + folded(indent + "    " + line[cut:].lstrip())


class Module:
    """What the declarations hold, as Fortran."""

    def __init__(self, text):
        self.kinds, self.opaque, self.records = {}, set(), set()
        self.constants, self.types, self.functions = [], [], []
        for node in c_parser.CParser().parse(KNOWN + text).ext:
            if isinstance(node, c_ast.Typedef):
                self.add_typedef(node)
            elif isinstance(node.type, c_ast.FuncDecl):
                self.functions.append(node)
            elif isinstance(node.type, c_ast.Enum):
                self.add_enumeration(node.type)

    def add_typedef(self, node):
        name, what = node.name, node.type
        if name in INTEGERS or name == "bool":
            return
        if isinstance(what, c_ast.PtrDecl):
            self.kinds[name] = "type(c_funptr)"
            return
        inner = what.type
        if isinstance(inner, c_ast.Enum):
            self.add_enumeration(inner)
            self.kinds[name] = "integer(c_int)"
        elif isinstance(inner, c_ast.Struct) and inner.decls is None:
            self.opaque.add(name)
        elif isinstance(inner, c_ast.Struct):
            self.add_record(name, inner)
        else:
            self.kinds[name] = self.scalar(" ".join(inner.names))

    def add_enumeration(self, node):
        value = -1
        for item in node.values.enumerators:
            value = int(self.number(item.value), 0) if item.value is not None else value + 1
            self.constants.append((item.name, "c_int", value))

    def number(self, node):
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return "-" + self.number(node.expr)
        if isinstance(node, c_ast.BinaryOp):
            left, right = (int(self.number(n), 0) for n in (node.left, node.right))
            return str({"<<": left << right, "|": left | right, "+": left + right}[node.op])
        return node.value.rstrip("uUlL")

    def add_record(self, name, node):
        if any(isinstance(d.type, c_ast.TypeDecl) and isinstance(d.type.type, c_ast.Union) for d in node.decls):
            raise SystemExit(f"{name} has a union, which Fortran cannot say")
        self.records.add(name)
        self.kinds[name] = f"type({name})"
        members = [f"    {self.member(d)}" for d in node.decls]
        self.types += [f"  type, bind(C) :: {name}", *members, f"  end type {name}"]

    def member(self, node):
        if isinstance(node.type, c_ast.ArrayDecl):
            return f"{self.kind(node.type.type)} :: {node.name}({self.number(node.type.dim)})"
        return f"{self.kind(node.type)} :: {node.name}"

    def scalar(self, name):
        if name in ("float", "double"):
            return f"real(c_{name})"
        if name == "bool":
            return "logical(c_bool)"
        if name in INTEGERS:
            return f"{'character' if name == 'char' else 'integer'}({INTEGERS[name]})"
        return self.kinds[name]

    def kind(self, node):
        if isinstance(node, c_ast.PtrDecl):
            return "type(c_funptr)" if isinstance(node.type, c_ast.FuncDecl) else "type(c_ptr)"
        return self.scalar(" ".join(node.type.names))

    @staticmethod
    def is_text(node):
        return (isinstance(node.type, c_ast.PtrDecl) and isinstance(node.type.type, c_ast.TypeDecl)
                and node.type.type.type.names == ["char"] and "const" in node.type.type.quals)

    def argument(self, node):
        if self.is_text(node):
            return f"character(c_char), intent(in) :: {node.name}(*)"
        return f"{self.kind(node.type)}, value :: {node.name}"

    def function(self, node):
        listed = node.type.args.params if node.type.args else []
        arguments = [a for a in listed if isinstance(a, c_ast.Decl)]
        back = node.type.type
        nothing = isinstance(back, c_ast.TypeDecl) and back.type.names == ["void"]
        word = "subroutine" if nothing else "function"
        head = f"    {word} {node.name}({', '.join(a.name for a in arguments)}) bind(C)"
        lines = [head if nothing else f"{head} result({RESULT})", "      import"]
        lines += [f"      {self.argument(a)}" for a in arguments]
        if not nothing:
            lines.append(f"      {self.kind(back)} :: {RESULT}")
        return "\n".join([*map(folded, lines), f"    end {word} {node.name}"])

    def text(self, constants):
        """The module; `constants` of the preprocessor as names and values."""
        named = {f.name for f in self.functions}
        lines = []
        for name, kind, value in [*constants, *self.constants]:
            free = name.lower() + ("_value" if name.lower() in named else "")
            lines.append(f"  integer({kind}), parameter :: {free} = {value}")
        return "\n".join([
            "! Made of heddle/c.h by fortran/declare.py: docs/guide/fortran.md.",
            "module heddle", "  use, intrinsic :: iso_c_binding", "  implicit none", "  public", "",
            *lines, "", *self.types, "", "  interface", *map(self.function, self.functions), "  end interface",
            "end module heddle", ""])


def defined(header):
    """The header's constants that are numbers, as Fortran has them."""
    values = {"UINT64_MAX >> 1": "huge(0_c_int64_t)", "UINT64_MAX": "-1_c_int64_t", "INT64_MAX": "huge(0_c_int64_t)",
              "(uint64_t)1 << 63": "-huge(0_c_int64_t) - 1_c_int64_t"}
    for name, value in re.findall(r"^#define (HEDDLE_\w+) ([^\n]*?)\s*(?:/\*.*)?$", header, re.M):
        value = re.sub(r"^\((.*)\)$", r"\1", value).replace("(heddle_rank)", "")
        if value in values:
            yield name, "c_int64_t", values[value]
        elif re.fullmatch(r"-?\d+", value):
            yield name, "c_int", value


if __name__ == "__main__":
    declarations, output, *headers = sys.argv[1:]
    found = []
    for path in headers:
        with open(path, encoding="utf-8") as file:
            found += defined(file.read())
    with open(declarations, encoding="utf-8") as file:
        module = Module(file.read())
    with open(output, "w", encoding="utf-8") as out:
        out.write(module.text(found))
