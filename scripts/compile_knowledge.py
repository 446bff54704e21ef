"""Compile the stub files of jaxlint/knowledge into table.json."""

from jaxlint.knowledge.compiler import write_table

if __name__ == "__main__":
    write_table()
