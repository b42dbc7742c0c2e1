"""Functions that make or choose functions: of ``operator`` and ``functools``; those of ``heapq``."""

from __future__ import annotations

import contextlib
import functools
import heapq
import operator
import types

from thunkad.rules.library import alternative, non_differentiable
from thunkad.runtime import heaps
from thunkad.runtime.attributes import check_in_one_step, has_items, has_own, is_iterated, own_names
from thunkad.runtime.chosen import implementation
from thunkad.runtime.exits import unfinished
from thunkad.runtime.memos import remembered, remembering
from thunkad.runtime.suspended import managing

non_differentiable(unfinished)
non_differentiable(implementation, has_items, has_own, is_iterated, own_names, check_in_one_step)
non_differentiable(operator.itemgetter, operator.attrgetter)
alternative(heapq.heappush)(heaps.pushed)
alternative(heapq.heappop)(heaps.popped)
alternative(heapq.heapreplace)(heaps.replaced)
alternative(heapq.heappushpop)(heaps.pushed_and_popped)
alternative(heapq.heapify)(heaps.made)
alternative(contextlib.contextmanager)(managing)
alternative(functools.cache)(remembered)
alternative(functools.lru_cache)(remembering)
alternative(functools.lru_cache, types=(types.FunctionType,))(remembered)
alternative(functools.lru_cache, types=(functools.partial,))(remembered)


@alternative(operator.methodcaller)
def methodcaller(name, /, *args, **kwargs):
    return lambda x: getattr(x, name)(*args, **kwargs)


@alternative(functools.update_wrapper)
def _(wrapper, wrapped, assigned=(), updated=()):
    return wrapper  # names and documentation are for the user's function, not for what is made in its derivative
