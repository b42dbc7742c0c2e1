"""NumPy functions that have to do with no derivative: texts, files, types, memory, settings; and those that are refused."""

from __future__ import annotations

import numpy as np

from thunkad.rules.library import non_differentiable
from thunkad.rules.refused import refuse

_TEXT = "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific"
_FILES = (
    "fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez savez_compressed "
    "packbits unpackbits"
)
_TYPES = "isdtype isfortran iterable mintypecode typename"
_DATES = "busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday"
_SETTINGS = (
    "errstate get_include get_printoptions getbufsize geterr geterrcall info printoptions set_printoptions setbufsize seterr "
    "seterrcall show_config show_runtime test"
)
_WINDOWS = "bartlett blackman hamming hanning"  # of a given length
_ITERATION = "ndindex"

for _names in (_TEXT, _FILES, _TYPES, _DATES, _SETTINGS, _WINDOWS, _ITERATION):
    non_differentiable(*(getattr(np, name) for name in _names.split() if hasattr(np, name)))
non_differentiable(np.linalg.test, np.fft.test, np.polynomial.test, np.ufunc, np.linalg.LinAlgError)  # type: ignore[attr-defined]  # `test` is not in the stubs

refuse(
    "np.matrix changes what * and ** mean; use an ordinary two-dimensional array and @", np.asmatrix, np.bmat, np.matrix
)
refuse("record arrays hold fields by name; use one array for each field", np.recarray)
refuse(
    "it hands out references into memory; use np.broadcast_arrays or a loop over indices",
    np.broadcast,
    np.nditer,
    np.nested_iters,
)
refuse("it shows memory under another layout; use sliding_window_view or reshape", np.lib.stride_tricks.as_strided)
refuse("it makes an array from raw memory; use np.array", np.ndarray, np.frombuffer, np.from_dlpack, np.flatiter)
_WRITING = "copyto fill_diagonal place put put_along_axis putmask"
refuse("it writes into its first argument", *(getattr(np, name) for name in _WRITING.split()))
refuse(
    "it changes the array itself",
    *(getattr(np.ndarray, name) for name in "fill partition put resize sort".split()),
)
