"""Files: arrays by name with checksums, replaced atomically, read lazily; and the JSON inside them, read with care.

`files` writes any file so that nothing is lost or left behind, `values` reads JSON and text that may say anything,
`header` knows the layout of safetensors, `arrays` writes and opens files of arrays. Nothing in a file is ever executed
or unpickled.
"""

from aleator.storage.arrays import ArrayFile, StoredArray, check_replaceable, write_arrays
from aleator.storage.files import (
    StorageError,
    check_regular,
    check_writable,
    exclusive,
    make_folder,
    remove_stale,
    replace_file,
)
from aleator.storage.values import check_object, is_a, parse_json

__all__ = [
    "ArrayFile",
    "StorageError",
    "StoredArray",
    "check_object",
    "check_regular",
    "check_replaceable",
    "check_writable",
    "exclusive",
    "is_a",
    "make_folder",
    "parse_json",
    "remove_stale",
    "replace_file",
    "write_arrays",
]
