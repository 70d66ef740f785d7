"""Files of rows."""

import json


def write_rows(path, *rows):
    """Write each row as a line of JSON, or as its bytes."""
    lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
